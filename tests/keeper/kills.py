#!/usr/bin/env python3
"""Kills of programs at random moments, in every mode: what was promised must be in the file, and nothing left behind.

  ./dev test-kills [--count N] [--seed N] [--mode MODE,...] [--minutes N]

Each run is one of promises.py (SIGKILL, SIGTERM, SIGSEGV of ranks, the launcher, the keeper process) or of endings/run.py
(signals, MPI_Abort, exit without close and others, from any thread), by its seed. A bad run is told with the line that
replays it. Exit status 1: some run is bad."""
import argparse
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# What promises.py is to take in a mode where it is not left to the seed: what the mode promises of a killed program.
KEPT_BY_NODE = [("hdf5", "independent"), ("hdf5", "collective"), ("pnetcdf", "independent")]
IN_FILE = KEPT_BY_NODE + [("pnetcdf", "collective"), ("pnetcdf", "records")]
MODES = {
    "strict": (IN_FILE, ["--mode", "strict"]),
    "commit": (KEPT_BY_NODE, ["--mode", "commit"]),
    "automatic": ([], []),
    "log": (IN_FILE, ["--log", "flush"]),
    "background": (IN_FILE, ["--log", "background"]),
}


def run(args, seed):
    """Which program, what it was, and what is wrong."""
    dice = random.Random(seed)
    mode = args.mode[seed % len(args.mode)]
    common = ["--forebay", args.forebay, "--mpiexec", args.mpiexec, "--seed", str(seed), "--count", "1", "--aloud"]
    if dice.random() < 0.6:
        of_mode, words = MODES[mode]
        command = [sys.executable, HERE + "/promises.py", *common, "--program", args.promises, "--signal", "KILL,KILL,TERM,SEGV", *words]
        if of_mode:
            library, how = dice.choice(of_mode)
            command += ["--library", library, "--how", how]
        if mode == "strict":
            command += ["--who", dice.choice(["a rank", "all ranks", "the launcher", "nobody"])]
    else:
        command = [sys.executable, HERE + "/../endings/run.py", *common, "--program", args.endings, "--mode", mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"BAD seed {seed}, {mode}: {' '.join(command)}", done.stdout[-3000:], done.stderr[-1000:], sep="\n", flush=True)
    kill = re.search(r"kill (nobody|a rank|all ranks|the launcher|the keeper, then all ranks|the keeper)(?:.*? by (SIG\w+))?", done.stdout)
    end = re.search(r"'how': '(\w+)'", done.stdout)
    if end:
        way = end.group(1)
    else:
        way = kill.group(1) + (f" {kill.group(2)}" if "rank" in kill.group(1) else "") if kill else "?"
    return mode, way, done.returncode != 0


def main():
    parser = argparse.ArgumentParser(prog="./dev test-kills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--count", type=int, default=500, metavar="N", help="runs (default: 500)")
    add("--minutes", type=float, metavar="N", help="and no more once so much time is over")
    add("--seed", type=int, metavar="N", help="of the first (default: by the time)")
    add("--mode", type=lambda text: text.split(","), default=list(MODES), metavar="M,...", help="of " + " ".join(MODES))
    for name in ("--forebay", "--mpiexec", "--promises", "--endings"):
        add(name, help=argparse.SUPPRESS)
    add("--check", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    for mode in args.mode:
        if mode not in MODES:
            parser.error(f"there is no '{mode}'; there are {' '.join(MODES)}")
    if args.check:
        return 0
    first = int(time.time()) if args.seed is None else args.seed
    print(f"seed {first}", flush=True)
    counts, begun = {}, time.time()
    for seed in range(first, first + args.count):
        if args.minutes and time.time() - begun > 60 * args.minutes:
            break
        mode, way, bad = run(args, seed)
        for kind in (("mode", mode), ("way", way), ("", "all")):
            row = counts.setdefault(kind, [0, 0])
            row[0] += 1
            row[1] += bad
    for (kind, name), (runs, bad) in sorted(counts.items()):
        print(f"{kind:6}{name:36}{runs:6} runs{bad:6} bad")
    return 1 if counts.get(("", "all"), [0, 0])[1] else 0


if __name__ == "__main__":
    sys.exit(main())
