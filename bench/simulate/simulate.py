#!/usr/bin/env python3
"""Forebay and its peers on a simulated machine: the core as it is, each rank a coroutine of SimGrid's MPI.

Writes each pattern under each subject, checks every byte, and prints simulated times. No host time is in them: they
are the same on any machine. docs/scaling.md says what is modelled, and what is not.
"""
import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chart
import platforms

PATTERNS = ("f", "g", "i", "btio", "tiny", "amr", "sparse")
SUBJECTS = ("strict", "commit", "independent", "two-phase", "aggregation")
# What SMPI is told: ranks share their memory, only what the program says takes time, and a link has the latency and
# bandwidth that the platform says, without the factors of a TCP network. Messages cost no processor.
SMPI = ("smpi/simulate-computation:no", "network/model:CM02", "network/crosstraffic:0",
        # Algorithms of the order of log(ranks); what it chooses by itself is not where many ranks share a node.
        "smpi/coll-selector:ompi", "smpi/allreduce:rdb", "smpi/barrier:ompi_recursivedoubling",
        "smpi/bcast:binomial_tree", "smpi/allgather:bruck", "smpi/gather:ompi_binomial",
        # Of messages that leave before they are awaited, SMPI 4.0 loses some where a sender has many on their way.
        "smpi/send-is-detached-thresh:0",
        # A link has so many messages at once, the others wait: nearly the same times, and a fraction of the work.
        "maxmin/concurrency-limit:8",
        "smpi/privatization:no",
        "contexts/stack-size:1024")


DESCRIPTORS = 100  # of the process, beside those of its ranks


def counts(text):
    values = [int(part) for part in text.split(",")]
    if min(values) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' has a count below 1")
    return values


def names_of(known):
    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no '{name}'; there are {', '.join(known)}")
        return names
    return parse


def size(text):
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    number, unit = (text[:-1], units[text[-1].lower()]) if text[-1:].lower() in units else (text, 1)
    return int(float(number) * unit)


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--full", action="store_true",
        help="up to 169 nodes of 128 ranks, pattern f; takes hours, not tried beyond 4096 ranks; with "
        "forebay_memory_bytes=4m unless --hints says otherwise")
    add("--nodes", type=counts, metavar="N,...", help="machines to simulate (default: 4,16,32)")
    add("--ranks-per-node", type=int, metavar="Q", help="(default: 16)")
    add("--patterns", type=names_of(PATTERNS), metavar="NAME,...", help=f"of {', '.join(PATTERNS)} (default: all but sparse)")
    add("--subjects", type=names_of(SUBJECTS), metavar="NAME,...", help=f"of {', '.join(SUBJECTS)} (default: all but independent)")
    add("--bytes", type=size, default=64 << 10, metavar="B", help="about so many a rank; k, m, g (default: 64k)")
    add("--together", action="store_true", help="E3SM: ranks of a node hold neighbouring columns")
    add("--maps", metavar="FOLDER", help="recorded E3SM decompositions (default: generated ones)")
    add("--hints", action="append", default=[], metavar="K=V;...", help="of Forebay; may be given again")
    group = parser.add_argument_group("machine")
    add = group.add_argument
    add("--topology", choices=platforms.TOPOLOGIES, default="star",
        help="star: a fat tree whose core is one link (default); the others simulate each link, and take longer")
    add("--card", type=float, default=12.5e9, metavar="B/S", help="of a network card (default: 12.5e9)")
    add("--cards", type=int, default=1, metavar="C", help="a node (default: 1)")
    add("--domains", type=int, default=1, metavar="D",
        help="of a node's memory (NUMA); they decide which ranks are aggregators, and cost nothing (default: 1)")
    add("--latency", type=float, default=1e-6, metavar="S", help="of a link (default: 1e-6)")
    add("--core", type=float, default=0, metavar="PART",
        help="of the star's core: a part of all nodes' bandwidth (default: 0, never full)")
    add("--piece", type=float, default=3e-9, metavar="S", help="of the processor for a piece (default: 3e-9)")
    add("--copy-rate", type=float, default=2e9, metavar="B/S", help="of one rank (default: 2e9)")
    add("--merge-rate", type=float, default=4e9, metavar="B/S", help="of one rank that merges marks (default: 4e9)")
    add("--wake", type=float, default=1e-6, metavar="S", help="until a rank that waits on its node goes on (default: 1e-6)")
    group = parser.add_argument_group("file system")
    add = group.add_argument
    add("--servers", type=int, default=0, metavar="S", help="(default: as many as nodes)")
    add("--stripe", type=size, default=1 << 20, metavar="B", help="(default: 1m)")
    add("--server-rate", type=float, default=1e9, metavar="B/S", help="of each (default: 1e9)")
    add("--request", type=float, default=50e-6, metavar="S", help="of a server for a request (default: 50e-6)")
    add("--shared", type=float, default=1e-3, metavar="S",
        help="where another rank has written the stripe last (default: 1e-3)")
    add("--rank-rate", type=float, default=2e9, metavar="B/S", help="of one rank that writes (default: 2e9)")
    group = parser.add_argument_group("peers")
    add = group.add_argument
    add("--aggregators", type=int, default=8, metavar="A", help="a node, of node aggregation (default: 8)")
    add("--cb-buffer", type=size, default=16 << 20, metavar="B", help="that one writes in a round (default: 16m)")
    group = parser.add_argument_group("results")
    add = group.add_argument
    add("--json", type=Path, metavar="FILE")
    add("--svg", type=Path, metavar="FILE", help="bandwidth over nodes")
    add("--damage", type=int, metavar="OFFSET", help="writes that byte of each file wrong: to see that it is found")
    add("--config", action="append", default=[], metavar="K:V", help="of SimGrid")
    add("--program", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Marks of so many ranks would not fit this machine's memory.
    options.hints = ";".join(options.hints or (["forebay_memory_bytes=4m"] if options.full else []))
    options.program = options.program and options.program.resolve()
    options.maps = options.maps and str(Path(options.maps).resolve())
    options.nodes = options.nodes or ([8, 32, 128, 169] if options.full else [4, 16, 32])
    options.ranks_per_node = options.ranks_per_node or (128 if options.full else 16)
    options.patterns = options.patterns or (["f"] if options.full else [name for name in PATTERNS if name != "sparse"])
    options.subjects = options.subjects or [name for name in SUBJECTS if name != "independent"]
    if options.cards < 1 or not 1 <= options.domains <= options.ranks_per_node or options.servers < 0 or options.stripe < 4096:
        parser.error("--cards, --domains and --ranks-per-node are at least 1, no domain is without ranks, --servers are at least 0, --stripe 4096")
    if options.topology == "dragonfly" and options.cards > 1:
        parser.error("a dragonfly's nodes have one card here")
    return options


def program_options(options, nodes, path):
    given = {
        "--ranks-per-node": options.ranks_per_node, "--cards": options.cards, "--domains": options.domains, "--bytes": options.bytes, "--servers": options.servers or nodes,
        "--stripe": options.stripe, "--server-rate": options.server_rate, "--request": options.request,
        "--shared": options.shared, "--rank-rate": options.rank_rate, "--piece": options.piece,
        "--copy-rate": options.copy_rate, "--merge-rate": options.merge_rate, "--wake": options.wake, "--aggregators": options.aggregators,
        "--cb-buffer": options.cb_buffer, "--path": path,
    }
    for name in ("maps", "hints", "damage"):
        if getattr(options, name) not in (None, ""):
            given[f"--{name}"] = getattr(options, name)
    return [str(word) for item in given.items() for word in item] + (["--together"] if options.together else [])


class Started:
    """The simulations that run now, so that none is left behind."""

    def __init__(self):
        self.lock, self.groups = threading.Lock(), {}  # the folder of each

    def run(self, command, folder):
        """What it wrote, and its exit status."""
        with self.lock:
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True)
            self.groups[process.pid] = folder
        output, errors = process.communicate()
        with self.lock:
            del self.groups[process.pid]
        return output, errors, process.returncode

    def end(self, number, _):
        for group, folder in self.groups.items():
            os.killpg(group, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(128 + number)


started_now = Started()


def run(options, nodes, pattern, subject):
    """One simulation: its results, or what it said."""
    with tempfile.TemporaryDirectory(prefix="forebay-simulate-") as name:
        folder = Path(name)
        xml, hosts = platforms.write(folder, nodes, options.ranks_per_node, topology=options.topology, card=options.card,
                                   cards=options.cards, latency=options.latency, core=options.core)
        command = ["smpirun", "-np", str(nodes * options.ranks_per_node), "-platform", str(xml), "-hostfile", str(hosts),
                   "--log=root.thresh:error", *(f"--cfg={one}" for one in (*SMPI, *options.config)),
                   str(options.program), "--patterns", pattern, "--subjects", subject,
                   *program_options(options, nodes, folder / "file")]
        output, errors, status = started_now.run(command, folder)
    for line in output.splitlines():
        if line.startswith("{"):
            return {"nodes": nodes} | json.loads(line), said(errors)
    return None, said(errors + output) or f"smpirun ended with {status}"


def said(text):
    """What went wrong, of the lines of the program and of SimGrid."""
    lines = [line for line in text.splitlines() if line.startswith("simulate: ") or "CRITICAL" in line]
    return "\n".join(lines[:5])


def row(result):
    crossing = result["message_bytes"] / max(1, result["bytes"])
    read = f"{result['read_s'] * 1e3:9.3f}" if "read_s" in result else f"{'-':>9}"
    return (f"{result['pattern']:5} {result['nodes']:5} {result['ranks']:6} {result['bytes'] / 2**20:9.1f} "
            f"{result['subject']:12} {result['write_s'] * 1e3:9.3f} {chart.rate(result):7.2f} {read} "
            f"{result['rounds']:6} {result['messages']:9} {crossing:8.2f} {result['writers']:7} {result['writes']:7} "
            f"{result['shared_stripes']:6} {'right' if result['right'] else 'WRONG'}")


HEAD = (f"{'':5} {'nodes':>5} {'ranks':>6} {'MiB':>9} {'subject':12} {'write ms':>9} {'GB/s':>7} {'read ms':>9} "
        f"{'rounds':>6} {'messages':>9} {'crossing':>8} {'writers':>7} {'writes':>7} {'shared':>6}")


def main():
    options = read_arguments()
    if options.program is None:
        return 0
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, started_now.end)
    # Commit mode has two descriptors for each rank, and all ranks are in one process.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    jobs = []
    for nodes in options.nodes:
        needed = 2 * nodes * options.ranks_per_node + DESCRIPTORS
        for subject in options.subjects:
            if subject in ("commit", "independent") and needed > most:
                print(f"left out: {subject}, {nodes} nodes: it needs {needed} file descriptors, and {most} are allowed "
                      "(ulimit -Hn)", file=sys.stderr)
            else:
                jobs += [(nodes, pattern, subject) for pattern in options.patterns]
    jobs.sort(key=lambda job: (job[0], options.patterns.index(job[1])))
    begin = time.monotonic()
    lock, failures, said_before, counted = threading.Lock(), [], set(), [0]

    def one(job):
        started = time.monotonic()
        result, words = run(options, *job)
        with lock:
            counted[0] += 1
            nodes, pattern, subject = job
            print(f"[{time.monotonic() - begin:4.0f}s] {counted[0]}/{len(jobs)} {pattern}, {subject}, {nodes} nodes: "
                  f"{time.monotonic() - started:.1f} s", file=sys.stderr)
            if result is None or not result["right"]:
                failures.append(job)
                if words not in said_before:
                    print(words, file=sys.stderr)
                said_before.add(words)
        return result

    # The large ones need the machine's memory for themselves.
    with ThreadPoolExecutor(1 if options.full else len(os.sched_getaffinity(0))) as pool:
        results = [result for result in pool.map(one, jobs) if result is not None]
    results.sort(key=lambda r: (options.patterns.index(r["pattern"]), r["nodes"], options.subjects.index(r["subject"])))
    print(HEAD)
    for result in results:
        print(row(result))
    if options.json:
        given = {name: value for name, value in vars(options).items() if name not in ("json", "svg", "program", "maps")}
        options.json.write_text(json.dumps({"options": given, "results": results}, indent=1) + "\n")
    if options.svg:
        options.svg.write_text(chart.draw(results, options.patterns, options.subjects))
    if failures:
        print(f"simulate: {len(failures)} of {len(jobs)} simulations failed", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
