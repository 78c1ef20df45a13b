#!/usr/bin/env python3
"""PnetCDF writes over several nodes: pseudo hosts of this machine, with links of several speeds.

Runs the benchmark `pnetcdf` on each machine N x Q (N network namespaces, which MPI takes for nodes, of Q ranks), with links
of each rate, and prints a line a row: the fastest stock peer, Forebay's time, and their ratio. Needs root, iproute2, Open
MPI 5, and the tool that makes pseudo hosts. docs/benchmarks/nodes.md has results.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOL = HERE.parents[2] / "shared" / "tools" / "hosts"
ROWS = "f-1,g-1,btio,tiny-4,tiny-16"
PEERS = "romio,romio-tuned,aggr1,ompio,ompio-tuned,forebay,commit"


def shapes(text):
    for shape in text.split(","):
        if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", shape):
            raise argparse.ArgumentTypeError(f"'{shape}' is not NxQ, nodes times ranks of each")
    return text.split(",")


def rates(text):
    for rate in text.split(","):
        if rate != "unlimited" and not re.fullmatch(r"\d+(\.\d+)?[kmg]?(bit|bps)", rate):
            raise argparse.ArgumentTypeError(f"'{rate}' is no rate; say 200mbit, 1gbit or unlimited")
    return text.split(",")


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench nodes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="2x4 at 1gbit, 3 repetitions: about a minute")
    add("--shapes", type=shapes, metavar="NxQ,...", help="(default: 2x4,4x4,8x2)")
    add("--rates", type=rates, metavar="RATE,...", help="of each link, as tc writes them (default: 200mbit,1gbit,unlimited)")
    add("--rows", default=ROWS, metavar="NAME,...", help=f"of ./dev bench pnetcdf (default: {ROWS})")
    add("--peers", default=PEERS, metavar="NAME,...", help=f"the same (default: {PEERS})")
    add("--reps", type=int, metavar="R", help="repetitions (default: 5)")
    add("--maps", metavar="FOLDER", help="recorded E3SM decompositions")
    add("--hints", metavar="K=V;...", help="of the runs under Forebay")
    add("--json", type=Path, metavar="FILE", help="writes all results there, too")
    add("--tool", type=Path, default=TOOL, metavar="FILE", help="makes pseudo hosts (default: ../shared/tools/hosts beside the checkout)")
    add("--program", type=Path, help=argparse.SUPPRESS)
    add("--forebay", help=argparse.SUPPRESS)
    add("--tiny", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.shapes = options.shapes or (["2x4"] if options.quick else ["2x4", "4x4", "8x2"])
    options.rates = options.rates or (["1gbit"] if options.quick else ["200mbit", "1gbit", "unlimited"])
    options.reps = options.reps or (3 if options.quick else 5)
    if options.reps < 1:
        parser.error("--reps is at least 1")
    return options


def run(options, shape, rate):
    """Results of the benchmark on one machine, or None; what it says goes to the standard error where it fails."""
    with tempfile.TemporaryDirectory(prefix="forebay-nodes-") as folder:
        results = Path(folder) / "results.json"
        machine = shape if rate == "unlimited" else f"{shape}@{rate}"
        command = ["bash", str(HERE.parent / "on_hosts.sh"), str(options.tool), machine, str(options.program),
                   "--rows", options.rows, "--peers", options.peers, "--reps", str(options.reps), "--json", str(results)]
        for name in ("maps", "hints", "forebay"):
            if getattr(options, name):
                command += [f"--{name}", getattr(options, name)]
        command += ["--tiny"] if options.tiny else []
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(f"nodes: {machine} ended with {done.returncode}\n" + "\n".join(done.stdout.splitlines()[-30:]), file=sys.stderr)
        return json.loads(results.read_text()) if results.exists() else None, done.returncode


HEAD = (f"{'machine':8} {'rate':10} {'row':18} {'fastest stock':14} {'stock s':>9} {'Forebay s':>9} {'ratio':>7} "
        f"{'bound':>7} identical")


def lines(shape, rate, results):
    """A line a ratio."""
    for ratio in results["ratios"]:
        row = next(r for r in results["rows"] if r["row"] == ratio["row"].split(".")[0])
        seconds = {peer["peer"]: peer["median_data_s"] for peer in row["peers"]}
        yield (f"{shape:8} {rate:10} {ratio['row']:18} {ratio['fastest_stock']:14} {seconds[ratio['fastest_stock']]:9.4f} "
               f"{seconds[ratio['fastest_forebay']]:9.4f} {ratio['ratio']:7.2f} {ratio['lower_bound']:7.2f} "
               f"{'yes' if ratio['identical'] else 'NO'}")


def main():
    options = read_arguments()
    if options.program is None:
        return 0
    if not options.tool.exists():
        print(f"nodes: no {options.tool}; --tool names what makes pseudo hosts", file=sys.stderr)
        return 2
    found, status = [], 0
    print(HEAD, flush=True)
    for shape in options.shapes:
        for rate in options.rates:
            results, ended = run(options, shape, rate)
            status = max(status, ended)
            if results is None:
                continue
            found.append({"machine": shape, "rate": rate} | results)
            for line in lines(shape, rate, results):
                print(line, flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
