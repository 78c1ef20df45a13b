#!/usr/bin/env python3
"""Ends programs in many ways and checks what they left.

run.py --forebay F --mpiexec M --program P [--seed N] [--count N] [--seeds N…] [what each run shall be] [--keep]

Without a choice each run's library, mode, nodes and way to end come from its seed. A bad run is told by its seed and
its command. Exit status: 0 if no run was bad.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIBRARIES = ["pnetcdf", "pnetcdf", "hdf5", "tcio", "file"]
HOWS = ["kill", "term", "usr1", "quit", "hup", "int", "xcpu", "segv", "abort", "abort", "exit", "quick_exit", "_exit",
        "c_abort", "abrt", "finalize", "close"]
# What a launcher tells of a way to end, where only the victim ends by it.
STATUS = {"kill": 137, "term": 143, "usr1": 138, "quit": 131, "hup": 129, "int": 130, "xcpu": 152, "segv": 139, "abort": 7,
          "c_abort": 134, "abrt": 134, "finalize": 0, "close": 0}
# By --mode only: LOG stands for a folder of the node's log, after which `forebay recover` follows where something is left.
MODES = {"strict": "forebay_mode=strict", "commit": "forebay_mode=commit", "automatic": "forebay_mode=automatic",
         "log": "forebay_log=LOG;forebay_log_bytes=1m", "background": "forebay_log=LOG;forebay_drain=background"}
HINTS = ["", "forebay_stripe_bytes=64k", "forebay_stripe_bytes=64k;forebay_pool_bytes=300k", "forebay_pool_bytes=64k"]


def choose(args, seed):
    """What the run with this seed is: a dictionary."""
    dice = random.Random(seed)
    run = {
        "library": dice.choice(LIBRARIES),
        "how": dice.choice(HOWS),
        "mode": dice.choice(["commit", "commit", "commit", "strict"]),
        "nodes": dice.choice([1, 1, 2]),
        "independent": dice.choice([False, True]),
        "prefill": dice.choice([False, True]),
        "who": dice.choice(["", "", "thread", "thread", "putter", "thread putter"]),
        "hints": dice.choice(HINTS),
    }
    for key, value in vars(args).items():
        if key in run and value is not None:
            run[key] = value
    if run["how"] in ("finalize", "close") and "thread" in run["who"]:
        run["who"] = ""
    return run


def left_behind(folder):
    """Processes that still run in this folder's name, and shared memory of Forebay's that is newer than it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if folder.encode() in words:
            found.append(int(pid))
    names = [n for n in os.listdir("/dev/shm")
             if n.startswith("forebay") and os.path.isfile(f"/dev/shm/{n}")
             and os.stat(f"/dev/shm/{n}").st_mtime >= os.stat(folder).st_ctime - 1] if os.path.isdir("/dev/shm") else []
    mine = []
    for name in names:
        pid = name.split("-")[1] if "-" in name else ""
        if not os.path.isdir(f"/proc/{pid}"):
            mine.append(name)
    return found, mine


def same_end(args, status, expected):
    """Hydra tells the bits of all ranks' wait statuses together; those that did not end by themselves were killed."""
    if not args.hydra or expected == 0:
        return status == expected
    killed = signal.SIGKILL | 128
    return status | killed == (expected & 127) | killed


def recover(args, folder, log):
    """What `forebay recover` says that is wrong, or leaves."""
    file = folder + "/file"
    if not os.path.exists(file):
        return []
    subprocess.run([args.forebay, "wait", "--timeout", "30", file], capture_output=True, check=False)  # a keeper process may be at it
    done = subprocess.run([args.forebay, "recover", file], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"recover: {done.stdout} {done.stderr}"]
    left = os.listdir(log) + [name for name in os.listdir(folder) if name.startswith("file.forebay")]
    return [f"left behind: {' '.join(left)}"] if left else []


def play(args, seed):
    """Runs one program; returns what is wrong with what it left, or None."""
    run = choose(args, seed)
    folder = tempfile.mkdtemp(prefix="endings_", dir=args.folder)
    log = os.path.join(folder, "node_log")
    os.mkdir(log)
    hints = [MODES[run["mode"]].replace("LOG", log)]
    if run["nodes"] == 2:
        hints.append(f"forebay_ranks_per_node={args.ranks // 2}")
    if run["hints"]:
        hints.append(run["hints"])
    environment = dict(os.environ, FOREBAY_HINTS=";".join(hints))
    command = [args.mpiexec, "-n", str(args.ranks), args.forebay, "run", args.program, "run", run["library"], folder,
               run["how"], str(seed)]
    command += [word for word in ("independent", "prefill") if run[word]] + run["who"].split()
    # HDF5's own exit handler waits for the other ranks, with the stock library as well.
    waits = run["library"] == "hdf5" and run["how"] == "exit"
    started = time.time()
    with open(folder + "/output", "w+", encoding="utf-8", errors="replace") as output:
        job = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            status = job.wait(timeout=8 if waits else args.patience)
        except subprocess.TimeoutExpired:
            status = 124
            job.terminate()
            time.sleep(1)
            job.kill()
            job.wait()
        output.seek(0)
        text = output.read()
    wrong = [] if "LOG" not in MODES[run["mode"]] else recover(args, folder, log)
    checked = subprocess.run([args.program, "check", folder], capture_output=True, text=True, check=False)
    if status == 124 and not waits:
        wrong.append(f"it did not end within {args.patience} s")
    if checked.returncode != 0:
        wrong.append(checked.stdout.strip() or f"the check ended with {checked.returncode}")
    # A signal may come first by the launcher, which ends the other ranks; the job's status is that of the first.
    expected = STATUS.get(run["how"])
    if expected is not None and status != 124 and not same_end(args, status, expected) and not (run["who"] and status == 0):
        wrong.append(f"status {status} instead of {expected}")
    processes, memory = left_behind(folder)
    if processes:
        time.sleep(2)  # the launcher's own time to end them
        processes, memory = left_behind(folder)
    for pid in processes:
        wrong.append(f"process {pid} is left")
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    if memory:
        wrong.append(f"left in /dev/shm: {' '.join(memory)}")
    if args.aloud:
        print(seed, f"{time.time() - started:.1f} s", status, run, checked.stdout.strip().split("\n")[-1], flush=True)
    if wrong:
        print(f"seed {seed}: {run}")
        print(f"  FOREBAY_HINTS='{environment['FOREBAY_HINTS']}' {' '.join(command)}")
        for line in "\n".join(wrong).split("\n") + [l for l in text.split("\n") if l.strip()][:12]:
            print("  " + line, flush=True)
    if not (args.keep and wrong):
        shutil.rmtree(folder, ignore_errors=True)
    return run, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forebay", required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", help="where files are made (default: a temporary one)")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", help="these alone")
    parser.add_argument("--patience", type=int, default=40, help="seconds until a run is taken to hang")
    parser.add_argument("--keep", action="store_true", help="the files of bad runs")
    parser.add_argument("--aloud", action="store_true", help="a line for each run")
    parser.add_argument("--library", choices=sorted(set(LIBRARIES)))
    parser.add_argument("--how", choices=sorted(set(HOWS)))
    parser.add_argument("--mode", choices=sorted(MODES))
    parser.add_argument("--nodes", type=int, choices=[1, 2])
    parser.add_argument("--who", choices=["", "thread", "putter", "thread putter"])
    parser.add_argument("--hints")
    parser.add_argument("--independent", action=argparse.BooleanOptionalAction)
    parser.add_argument("--prefill", action=argparse.BooleanOptionalAction)
    args = parser.parse_args()
    args.hydra = "hydra" in subprocess.run([args.mpiexec, "--version"], capture_output=True, text=True, check=False).stdout.lower()
    bad = 0
    played = {}
    seeds = args.seeds or range(args.seed, args.seed + args.count)
    for seed in seeds:
        run, wrong = play(args, seed)
        bad += 1 if wrong else 0
        for key in ("library", "how", "mode", "nodes", "who"):
            played.setdefault(key, {}).setdefault(run[key], 0)
            played[key][run[key]] += 1
    for key, counts in played.items():
        print(f"{key}:", ", ".join(f"{name or 'the rank'} {n}" for name, n in sorted(counts.items(), key=lambda c: str(c[0]))))
    print(f"{bad} of {len(seeds)} runs bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
