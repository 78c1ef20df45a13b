#!/usr/bin/env python3
"""Faults below each library's calls: what every rank hears, what the file holds then, and whether it becomes right once the
fault is gone.

  ./dev test-faults [--quick | --full] [--only OP,...] [--seed N] [OPTION...]

A cell of the matrix is LIBRARY/MODE/NODES/OP/KEPT/PLACE/CALL/FAULT/NUMBER/AGAIN/RANK: the fault befalls the NUMBERth such CALL
at that PLACE (the file, shared memory, the node's log, the mark that names it) on RANK (or in the keeper process) while the ranks are in OP, once or from then on. An owner is the
rank that makes that call first. KEPT says what was put before and not synced. A preloaded library lets the calls fail; there
is no special build. Cells run one after the other in the same program; one that failed, hung or died ends it, and the
others go on in a new one. Without --full a random sample; its seed is printed.

Every cell: nobody hangs; the ranks of a collective call all fail or none does; a message names file, range and cause; what
EINTR, short and slow calls do is no failure; bytes that the call did not put stay; what was put is in the file after the
next sync or close without the fault, and the file is the stock library's then. Exit status 1: some cell is wrong."""
import argparse
import itertools
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

LIBRARIES = ("pnetcdf", "hdf5", "tcio")
# Each mode is a set of hints; LOG stands for a folder of the node's log, which makes that a place of faults.
MODES = {
    "strict": "forebay_mode=strict",
    "commit": "forebay_mode=commit",
    "tight": "forebay_mode=commit;forebay_pool_bytes=64k;forebay_segment_bytes=4k",
    "automatic": "forebay_mode=automatic;forebay_keeper=start",
    "log": "forebay_log=LOG",
    "log_full": "forebay_log=LOG;forebay_log_bytes=1m",
    "log_sync": "forebay_log=LOG;forebay_log_bytes=1m;forebay_sync=log;forebay_log_safety=node",
    "background": "forebay_log=LOG;forebay_drain=background",
    "background_close": "forebay_log=LOG;forebay_log_bytes=1m;forebay_drain=background;forebay_sync=log;forebay_close=background",
    "mpiio": "forebay_mode=strict;forebay_storage=mpiio",
    "commit_mpiio": "forebay_mode=commit;forebay_storage=mpiio",
    "stock": "forebay_enable=off",  # for comparison; only where it is asked for
}
COMMON = "forebay_stripe_bytes=16k"
# Which calls a fault may befall in an operation, at the file.
AT_FILE = {
    "create": ("open", "write", "size", "read"),
    "open": ("open", "read"),
    "put": ("write",),
    "iput": ("write",),
    "put_alone": ("write",),
    "sync": ("write", "sync"),
    "redef": ("write", "read", "size"),
    "enddef": ("write", "read"),
    "read": ("write", "read"),
    "read_alone": ("write", "read"),
    "close": ("write", "sync", "size", "close"),
}
# With a log: so many puts that it is drained meanwhile; `forebay recover` after a crash, and an open after one.
WITH_LOG = {
    "drain": ("write", "read"),
    "recover": ("open", "write", "sync", "read"),
    "resume": ("open", "write", "sync", "read"),
}
IN_MEMORY = {"create": ("open", "size"), "open": ("open", "size"), "put": ("size",), "put_alone": ("open", "size"), "sync": ("size",)}
IN_LOG = {"open": ("open", "size", "read"), "create": ("open", "size"), "put": ("write", "size"), "iput": ("write",),
          "put_alone": ("write", "size"), "sync": ("write", "sync", "read"), "redef": ("write", "read"), "enddef": ("write", "read"),
          "read": ("read",), "read_alone": ("read",), "close": ("write", "read", "sync", "close"), "drain": ("write", "read"),
          "recover": ("open", "read"), "resume": ("open", "read")}
# The text beside the file that says where its logs are.
AT_MARK = {"create": ("open", "write"), "open": ("open", "write"), "close": ("open", "write"), "recover": ("open", "write"),
           "resume": ("open", "write")}
FAULTS = {
    "write": ("EIO", "ENOSPC", "EDQUOT", "EFBIG", "EINTR", "short", "slow"),
    "read": ("EIO", "EINTR", "short", "slow"),
    "sync": ("EIO", "ENOSPC", "EDQUOT", "EINTR", "slow"),
    "size": ("EIO", "ENOSPC", "EDQUOT", "EFBIG", "EINTR", "slow"),
    "open": ("EIO", "ENOSPC", "EDQUOT", "EACCES", "EMFILE", "EINTR", "slow"),
    "close": ("EIO", "ENOSPC", "EDQUOT", "EINTR", "slow"),
}
# What the libraries below Forebay do not stand: not played, unless by --cell.
LEFT_OUT = (
    ("(hdf5|tcio)/.*/enddef/.*", "only PnetCDF has an enddef"),
    ("pnetcdf/.*/enddef/.*/(EIO|ENOSPC|EDQUOT|EFBIG)/.*", "PnetCDF moves data by itself: failures are not told, or ranks wait for ever"),
    ("pnetcdf/.*/(create|open|resume|enddef)/.*/(EINTR|short)/.*", "PnetCDF's header and moved data go by MPI-IO, which takes that for failures"),
    ("pnetcdf/.*/(create|open|resume)/.*/file/open/.*", "PnetCDF lets MPI-IO open its file"),
    ("pnetcdf/.*/(create|open|resume)/.*/file/read/EIO/.*", "PnetCDF's rank 0 reads the header, and the others wait for ever"),
    ("pnetcdf/.*mpiio/./sync/.*/file/sync/.*", "PnetCDF lets each rank sync, and waits for those that cannot"),
    ("pnetcdf/(strict|mpiio)/./put_alone/.*/(EINTR|short)/.*", "PnetCDF's own puts; Open MPI's data sieving loses what a short write left"),
    (".*mpiio/./(create|open)/.*/file/open/.*", "MPI-IO waits for the rank that cannot open the file"),
    (".*mpiio/.*/file/(sync|size)/EINTR/.*", "MPI-IO takes it for a failure"),
    (".*/(recover|resume)/.*/last", "rank 0 recovers"),
    ("tcio/.*/2/(recover|resume)/.*/file/write/slow/./on/.*", "thousands of pieces, each of which takes its time"),
    ("tcio/.*/log/(read|write)/slow/./on/.*", "the same: each put is an append of its own"),
)
KEEPS = ("sync", "redef", "enddef", "read", "read_alone", "close", "drain", "recover", "resume")  # operations that meet what was kept before
NUMBERS = ("1", "3")
AGAIN = ("once", "on")
RANKS_HIT = ("first", "last", "owner", "all")
WITH_KEEPER = ("keeper",)  # where it drains
RANKS = 4
CELLS_A_JOB = 40  # a process tells the same kind of failure a few times only
CONTROL_BYTES, PROGRESS_BYTES = 8192, 56  # control.h


def operations(mode):
    """All (op, kept, place, call, fault)."""
    has_log = "LOG" in MODES[mode]
    places = [("file", AT_FILE | (WITH_LOG if has_log else {})), ("memory", IN_MEMORY)] + ([("log", IN_LOG), ("mark", AT_MARK)] if has_log else [])
    for place, calls_of in places:
        for op, calls in calls_of.items():
            for kept in (("collective", "independent") if op in KEEPS else ("nothing",)):
                for call in calls:
                    for fault in FAULTS[call]:
                        yield op, kept, place, call, fault


def all_cells(args):
    for library, mode in itertools.product(args.library, args.mode):
        for op, kept, place, call, fault in operations(mode):
            if (args.only and op not in args.only) or (args.fault and fault not in args.fault) or (args.place and place not in args.place):
                continue
            ranks = RANKS_HIT + (WITH_KEEPER if "background" in MODES[mode] and place != "memory" else ())
            for nodes, number, again, rank in itertools.product(("1", "2"), NUMBERS, AGAIN, ranks):
                cell = "/".join((library, mode, nodes, op, kept, place, call, fault, number, again, rank))
                if not any(re.fullmatch(pattern, cell) for pattern, _ in LEFT_OUT):
                    yield cell


def choose(args):
    if args.cell:
        return args.cell
    cells = list(all_cells(args))
    wanted = args.count or (len(cells) if args.full else 500 if args.quick else 5000)
    dice = random.Random(args.seed)
    chosen = dice.sample(cells, min(wanted, len(cells)))
    chosen.sort(key=lambda cell: cell.split("/")[0])  # whose stock file is known
    print(f"{len(chosen)} of {len(cells)} cells, seed {args.seed}", flush=True)
    return chosen


class Job:
    """One program that plays cells until it is done, or one of them goes wrong."""

    def __init__(self, args, folder, cells):
        self.folder, self.cells = folder, cells
        self.control_name = os.path.join(folder, "control")
        with open(self.control_name, "wb") as f:
            f.write(bytes(CONTROL_BYTES))
        log = os.path.join(folder, "log")
        os.makedirs(log, exist_ok=True)
        list_name = os.path.join(folder, "cells")
        with open(list_name, "w", encoding="ascii") as f:
            for cell in cells:
                hints = MODES[cell.split("/")[1]].replace("LOG", log)
                f.write(f"{cell} {hints};{COMMON}\n")
        # No variable reaches a keeper process.
        keeper = os.path.join(folder, "keeper")
        with open(keeper, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\nFAULTS_KEEPER=1 FAULTS_CONTROL={self.control_name} LD_PRELOAD={args.inject} exec {args.keeper} \"$@\"\n")
        os.chmod(keeper, 0o700)
        environment = dict(os.environ, FAULTS_CONTROL=self.control_name, FAULTS_FOREBAY=args.forebay,
                           FAULTS_FOREBAY_KEEPER=f"faults {folder}", FAULTS_FOREBAY_KEEPER_PROGRAM=keeper)
        command = [args.mpiexec, "-n", str(RANKS), "env", f"LD_PRELOAD={args.inject}", args.forebay, "run", args.program, folder,
                   list_name, log]
        self.output = open(os.path.join(folder, "output"), "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.output, env=environment,
                                        start_new_session=True)

    def progress(self):
        """Steps, cell and what it does, of each rank."""
        with open(self.control_name, "rb") as f:
            data = f.read()
        ranks = []
        for r in range(RANKS):
            steps, cell, doing = struct.unpack_from("ii48s", data, r * PROGRESS_BYTES)
            ranks.append((steps, cell, doing.split(b"\0")[0].decode()))
        return ranks

    def said(self):
        """The last lines of each rank, while it played the last cell."""
        lines = []
        for r in range(RANKS):
            name = os.path.join(self.folder, f"err.{r}")
            if os.path.exists(name):
                with open(name, encoding="utf-8", errors="replace") as f:
                    lines += [f"rank {r}: {line.rstrip()}" for line in f.readlines()[-12:] if line.strip()]
        return lines

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.output.close()


def play(args, folder, cells, results):
    """Plays cells up to one that goes wrong; returns how many are done."""
    job = Job(args, folder, cells)
    done, last, seen = 0, None, time.time()
    os.set_blocking(job.process.stdout.fileno(), False)
    text, hung, over = "", None, False
    while True:
        ended = job.process.poll() is not None
        text += (job.process.stdout.read() or b"").decode(errors="replace")
        *lines, text = text.split("\n")
        for line in lines:
            words = line.split(" ", 4)
            if words[0] not in ("ok", "over", "FAIL"):
                continue
            done, over = int(words[1]) + 1, words[0] == "over"
            results.add(cells[done - 1], int(words[2]), words[3] == "1", words[4] if words[0] == "FAIL" else "", job)
        if ended:
            break
        now = job.progress()
        if now != last:
            last, seen = now, time.time()
        elif time.time() - seen > args.patience * (1 if any(steps for steps, _, _ in now) else 3):  # a start takes its time
            hung = now
            break
        time.sleep(0.02)
    failed = done > 0 and results.last_failed
    if hung:
        where = "; ".join(f"rank {r} {doing}" for r, (_, _, doing) in enumerate(hung))
        missing = [str(r) for r, (_, _, doing) in enumerate(hung) if doing.startswith("in ")] or ["?"]
        if done < len(cells):
            results.add(cells[done], -1, False, f"hangs on rank {' '.join(missing)}: {where}", job)
            done += 1
        else:
            results.add(cells[-1], -1, False, "the program hangs at its end, after " + cells[-1], job)
    elif done < len(cells) and not failed and not over:
        where = "; ".join(f"rank {r} {doing}" for r, (_, _, doing) in enumerate(job.progress()))
        results.add(cells[done], -1, False, f"the program died with status {job.process.returncode}: {where}", job)
        done += 1
    job.end()
    return done


class Results:
    def __init__(self, args):
        self.args, self.table, self.failures, self.last_failed = args, {}, [], False

    def add(self, cell, struck, told, wrong, job):
        fields = cell.split("/")
        for key in (("library", fields[0]), ("mode", fields[1]), ("operation", fields[3]), ("fault", fields[7]), ("place", fields[5])):
            counts = self.table.setdefault(key[0], {}).setdefault(key[1], [0, 0, 0, 0])
            counts[0] += 1
            counts[1] += struck > 0
            counts[2] += bool(told)
            counts[3] += bool(wrong)
        self.last_failed = bool(wrong)
        if self.args.aloud:
            print("FAIL" if wrong else "ok", cell, struck, "told" if told else "", flush=True)
        if wrong:
            self.failures.append(cell)
            print(f"WRONG ./dev test-faults --cell {cell}: {wrong}", flush=True)
            if self.args.messages:
                for line in job.said():
                    print("    " + line, flush=True)

    def show(self):
        print(f"{'':24}{'cells':>8}{'struck':>8}{'told':>8}{'wrong':>8}")
        for kind, rows in self.table.items():
            print(kind)
            for name, counts in sorted(rows.items()):
                print(f"  {name:22}" + "".join(f"{n:8}" for n in counts))


def main():
    names = lambda text: text.split(",")  # noqa: E731
    parser = argparse.ArgumentParser(prog="./dev test-faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="a sample of 500 cells; else of 5000")
    add("--full", action="store_true", help="every cell, which takes hours")
    add("--count", type=int, metavar="N", help="a sample of so many")
    add("--only", type=names, metavar="OP,...", help="of " + " ".join(AT_FILE | WITH_LOG))
    add("--library", type=names, default=list(LIBRARIES), metavar="L,...", help="of " + " ".join(LIBRARIES))
    add("--mode", type=names, default=[mode for mode in MODES if mode != "stock"], metavar="M,...", help="of " + " ".join(MODES))
    add("--fault", type=names, metavar="F,...", help="of EIO ENOSPC EDQUOT EFBIG EACCES EMFILE EINTR short slow")
    add("--place", type=names, metavar="P,...", help="of file memory log mark")
    add("--seed", type=int, metavar="N", help="of the sample (default: by the time)")
    add("--cell", action="append", metavar="CELL", help="this alone; may be repeated")
    add("--messages", action="store_true", help="what the ranks of a wrong cell said; so with --cell")
    add("--aloud", action="store_true", help="a line for every cell")
    add("--patience", type=float, default=40, metavar="S", help="seconds until a cell is taken to hang (default: 40)")
    add("--folder", help="where files are made (default: in memory)")
    for name in ("--forebay", "--mpiexec", "--program", "--inject", "--keeper"):
        add(name, help=argparse.SUPPRESS)
    add("--check", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    for given, known in ((args.only, AT_FILE | WITH_LOG), (args.library, LIBRARIES), (args.mode, MODES)):
        for name in given or ():
            if name not in known:
                parser.error(f"there is no '{name}'; there are {' '.join(known)}")
    if args.check:
        return 0
    args.seed = int(time.time()) if args.seed is None else args.seed
    args.messages = args.messages or bool(args.cell)
    cells = choose(args)
    if not cells:
        parser.error("there is no such cell")
    results = Results(args)
    started = time.time()
    while cells:
        folder = tempfile.mkdtemp(prefix="faults_", dir=args.folder or ("/dev/shm" if os.path.isdir("/dev/shm") else None))
        try:
            cells = cells[play(args, folder, cells[:CELLS_A_JOB], results):]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    results.show()
    print(f"{len(results.failures)} wrong, {time.time() - started:.0f} s")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
