#!/usr/bin/env python3
"""Holds forebay plan to what a run of the same shape reports, several nodes being groups of the ranks of one machine.

plan_against_run.py FOREBAY PROGRAM MPIEXEC...
PROGRAM: tests/tools/interleaved.c. Exit status: 1 where a number is another.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

forebay, program, *mpiexec = sys.argv[1:]
# nodes, ranks a node, bytes a rank, pieces a rank, options of plan, whose names are those of hints
CASES = [
    (2, 2, 1 << 18, 1 << 16, {}),
    (2, 2, 1 << 20, 1 << 18, {}),
    (4, 2, 1 << 20, 1 << 16, {"memory-bytes": "1m", "rounds": "window"}),
    (4, 2, 1 << 20, 8, {"stripe": "64k", "rounds": "window"}),
    (2, 4, 3 << 18, 3 << 10, {"aggregators-per-node": "1", "stripe": "192k"}),
    (4, 2, 1 << 20, 1 << 16, {"memory-bytes": "4m", "stripe": "64k", "rounds": "wide"}),
    (4, 2, 3 << 19, 3 << 15, {"stripe": "256k", "rounds": "wide"}),
    (2, 4, 1 << 20, 1 << 19, {"memory-bytes": "3m", "stripe": "128k", "rounds": "wide"}),
    (8, 1, 1 << 20, 1 << 12, {"memory-bytes": "3m", "stripe": "64k", "rounds": "wide"}),
    (8, 1, 1 << 20, 1 << 14, {"memory-bytes": "2200k", "stripe": "64k"}),
    (4, 2, 1 << 20, 1 << 3, {"stripe": "64k", "rounds": "wide"}),
]
HINTS = {"stripe": "forebay_stripe_bytes", "memory-bytes": "forebay_memory_bytes", "rounds": "forebay_rounds",
         "aggregators-per-node": "forebay_aggregators_per_node"}


def planned(nodes, ranks, size, pieces, options):
    words = [forebay, "plan", "--nodes", str(nodes), "--ranks-per-node", str(ranks), "--bytes", str(size), "--pieces", str(pieces)]
    words += [word for name, value in options.items() for word in ("--" + name, value)]
    return json.loads(subprocess.run(words + ["--json", "-"], check=True, capture_output=True, text=True).stdout)


def ran(folder, nodes, ranks, size, pieces, options):
    hints = {"forebay_ranks_per_node": ranks, **{HINTS[name]: value for name, value in options.items()}}
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    subprocess.run([*mpiexec, "-n", str(nodes * ranks), forebay, "run", "--mode", "strict", "--stats", report, "--hints",
                    ";".join(f"{name}={value}" for name, value in hints.items()), program, folder / "file", str(size), str(pieces)],
                   check=True, timeout=120)
    (one,) = json.loads(report.read_text())["files"]
    return one


def differences(plan, report):
    node, between, memory = report["after_node_coalescing"], report["between_nodes"], report["memory"]
    rounds = plan["rounds"]
    pairs = {
        "rounds": (rounds, node["rounds"]),
        "wide rounds": (rounds if plan["kind"] == "wide" else 0, node["wide_rounds"]),
        "owners at work, of all rounds": (plan["owner_rounds"], node["owner_rounds"]),
        "messages": (plan["between_nodes"]["messages"], between["messages"]),
        "data": (plan["between_nodes"]["data_bytes"], between["bytes"] - between["header_bytes"]),
        "windows": (plan["nodes"] * plan["memory"]["window_bytes_per_node"], memory["windows_bytes"]),
    }
    if not plan["between_nodes"]["exact"]:
        del pairs["messages"]
    wrong = [f"{name}: planned {mine}, reported {its}" for name, (mine, its) in pairs.items() if mine != its]
    if between["header_bytes"] > plan["between_nodes"]["header_bytes_at_most"]:
        wrong.append(f"headers: at most {plan['between_nodes']['header_bytes_at_most']}, reported {between['header_bytes']}")
    return wrong


failures = 0
kinds = set()
with tempfile.TemporaryDirectory() as name:
    for case in CASES:
        plan = planned(*case)
        kinds.add((plan["kind"], plan["rounds"] > 1))
        wrong = differences(plan, ran(pathlib.Path(name), *case))
        print("FAIL" if wrong else "ok  ", case, plan["kind"], plan["rounds"], *wrong, sep="\n  " if wrong else "  ")
        failures += bool(wrong)
if not {("wide", True), ("window", True), ("window", False)} <= kinds:
    print("FAIL: the cases do not have all kinds of rounds:", kinds)
    failures += 1
sys.exit(failures > 0)
