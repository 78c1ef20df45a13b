#!/usr/bin/env python3
"""Kills programs at random moments, and looks whether what their returned puts promised is in the file.

promises.py --forebay F --mpiexec M --program P [--seed N] [--count N] [--mode MODE|stock] [--library L] [--how H] [--who W]
            [--nodes RANKS_PER_NODE] [--folder FOLDER] [--log flush|background]

With --log writes go to a log, and `forebay recover` follows the kill where something is left of one; half of the runs
have no keeper process.

What a run is comes from its seed where it is not given. A bad run is told by its seed. Exit status: 0 if none was bad.
"""
import argparse
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

RANKS = 4
CALLS = {"independent": 20000, "collective": 3000, "records": 3000, "blocks": 5000, "large": 600, "boxes": 20000}
HOW = {
    "hdf5": ["independent", "collective"],
    "pnetcdf": ["independent", "collective", "records"],
    "tcio": ["independent", "blocks", "large", "boxes"],
}
WHO = ["a rank", "all ranks", "all ranks", "the launcher", "the keeper", "the keeper, then all ranks", "nobody"]


def processes(folder):
    """The job's: by their folder, or, of a keeper, by who started it."""
    found = {"ranks": [], "launcher": [], "keeper": []}
    keepers = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            cwd = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        name = os.path.basename(words[0]).decode()
        if name == "forebay-keeper":
            keepers[int(pid)] = int(words[1])
        elif cwd == folder and name == "promises":
            found["ranks"].append(int(pid))
        # Not Hydra's hydra_pmi_proxy: it ends the ranks when mpiexec has gone; without it they run on to MPI_Finalize.
        elif cwd == folder and name.startswith(("mpiexec", "mpirun", "prterun", "prte")):
            found["launcher"].append(int(pid))
    found["keeper"] = [k for k, starter in keepers.items() if starter in found["ranks"] + found["launcher"]]
    return found


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def kill(pids, how=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            pass


def until(what, seconds):
    end = time.time() + seconds
    while time.time() < end:
        if what():
            return True
        time.sleep(0.01)
    return False


def counts(folder):
    """How many calls rank 0 has made; -1 before the first may be."""
    try:
        with open(folder + "/promises.progress", "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
            offset, = struct.unpack_from("q", m, 0)
            begun, = struct.unpack_from("i", m, 8)
            return begun if offset else -1
    except (OSError, ValueError):
        return -1


def run(args, seed):
    dice = random.Random(seed)
    library = args.library or dice.choice(["hdf5", "pnetcdf"] + (["tcio"] if args.mode != "stock" else []))
    how = args.how or dice.choice(HOW[library])
    who = args.who or dice.choice(WHO)
    nodes = dice.choice([0, 0, 2]) if args.nodes is None else args.nodes
    folder = tempfile.mkdtemp(prefix="promises-", dir=args.folder)
    # A collective call of several nodes waits for messages, and for a core where there are fewer than ranks.
    signals = getattr(signal, "SIG" + random.Random(f"signal {seed}").choice(args.signal))
    calls = CALLS[how] // (10 if nodes and how in ("collective", "records") else 1)
    program = [args.program, library, how, str(seed), str(calls)]
    hints = ["--hints", f"forebay_ranks_per_node={nodes}"] if nodes else []
    alone = bool(args.log) and dice.random() < 0.5
    if args.log:
        bytes_ = dice.choice(["1m", "64m"])
        hints = ["--hints", f"forebay_log={folder};forebay_log_bytes={bytes_};forebay_drain={args.log}"
                 + (";forebay_keeper=none" if alone else "")
                 + (f";forebay_ranks_per_node={nodes}" if nodes else "")]
    forebay = [] if args.mode == "stock" else [args.forebay, "run", "--mode", args.mode, *hints]
    launcher = [args.mpiexec, "-n", str(RANKS)]
    command = launcher + forebay + program if dice.random() < 0.5 else forebay + launcher + program
    what = f"seed {seed}: {library}, {how}, kill {who}" + (f", {nodes} ranks a node" if nodes else "")
    what += f" by {signals.name}" if len(args.signal) > 1 else ""
    what += f", a log of {bytes_}" + (", no keeper" if alone else "") if args.log else ""
    log = open(folder + "/log", "wb")
    # A launcher that is killed leaves a folder, in the way of the next one with its number.
    env = {**os.environ, "TMPDIR": folder}
    job = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    problem = ""
    try:
        if not until(lambda: counts(folder) > 0 or job.poll() is not None, 30):
            problem = "it did not begin"
        goal = dice.randrange(1, calls)
        until(lambda: counts(folder) >= goal or job.poll() is not None, 20)
        time.sleep(dice.random() * 0.002)
        there = processes(folder)
        if "keeper" in who:
            kill(there["keeper"])
            time.sleep(dice.random() * 2.5 if who == "the keeper, then all ranks" else 0)
        if who == "a rank":
            kill(there["ranks"][:1], signals)
        elif "all ranks" in who:
            kill(there["ranks"], signals)
        elif who == "the launcher":
            kill(there["launcher"])
        try:
            job.wait(60)
        except subprocess.TimeoutExpired:
            problem = problem or "the job does not end"
        if args.mode != "stock" and job.poll() is None and not there["keeper"]:
            problem = problem or "no keeper"
        if not until(lambda: not processes(folder)["ranks"] and not any(map(lives, there["keeper"])), 30):
            problem = problem or f"left behind: {processes(folder)}, keepers {list(filter(lives, there['keeper']))}"
        # Whoever kills the keeper and then all ranks takes what was kept in between; a rank that puts sees it in a second.
        logs = [name for name in os.listdir(folder) if name.startswith("forebay-") and name.endswith(".log")]
        if logs and not problem:
            recovered = subprocess.run([args.forebay, "recover", "promises.data"], cwd=folder, capture_output=True, text=True)
            if recovered.returncode:
                problem = f"recover: {recovered.returncode} {recovered.stdout} {recovered.stderr}"
        if args.log and not problem and [n for n in os.listdir(folder) if "forebay" in n]:
            problem = f"left behind: {os.listdir(folder)}"
        if args.log or who != "the keeper, then all ranks":
            checked = subprocess.run(program + ["check", str(RANKS)], cwd=folder, capture_output=True, text=True)
            if checked.returncode:
                problem = problem or f"check: {checked.returncode} {checked.stdout}"
        if who in ("nobody", "the keeper") and job.returncode != 0:
            problem = problem or f"exit status {job.returncode}"
    finally:
        if job.poll() is None:
            kill(processes(folder)["ranks"])
            job.kill()
        log.close()
    if problem:
        print(what, "BAD", problem, " ".join(command), open(folder + "/log").read()[-1500:], sep="\n", flush=True)
    elif args.aloud:
        print(what, "well", counts(folder), flush=True)
    shutil.rmtree(folder)
    return not problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("forebay", "mpiexec", "program"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--mode", default="automatic")
    parser.add_argument("--library")
    parser.add_argument("--how")
    parser.add_argument("--who", choices=WHO)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--log", choices=["flush", "background"])
    parser.add_argument("--signal", type=lambda text: text.split(","), default=["KILL"], help="of ranks: KILL,TERM,SEGV")
    parser.add_argument("--aloud", action="store_true")
    args = parser.parse_args()
    bad = [seed for seed in range(args.seed, args.seed + args.count) if not run(args, seed)]
    print(f"{args.count} runs, {len(bad)} bad" + (f": {bad}" if bad else ""))
    sys.exit(1 if bad else 0)


main()
