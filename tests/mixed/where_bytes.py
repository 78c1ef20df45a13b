#!/usr/bin/env python3
"""Holds where bytes are after each call (where_bytes.cpp) against the table of docs/consistency.md.

where_bytes.py PAGE FOREBAY PROGRAM MPIEXEC [PREFLAGS...]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What a key of the program is in the table: the beginning of a row. After "+" comes a call on what was written.
WRITES = {
    "hdf5-independent": "HDF5: independent write",
    "hdf5-collective": "HDF5: collective write",
    "pnetcdf-independent": "PnetCDF: independent put",
    "pnetcdf-collective": "PnetCDF: collective put",
    "tcio": "`tcio_write`",
    "box-independent": "`forebay::File`: `put`",
    "box-collective": "`forebay::File`: `put_all`",
}
CALLS = {
    "read": ("independent read: HDF5", "independent read: PnetCDF"),
    "read-all": ("collective read: HDF5", "collective read: PnetCDF"),
    "flush": ("`ncmpi_flush`",) * 2,
    "redef": ("`ncmpi_redef`",) * 2,
    "mode": ("`ncmpi_redef`",) * 2,
    "size": ("`ncmpi_redef`",) * 2,
    "sync": ("`H5Fflush`",) * 2,
    "close": ("close",) * 2,
}


def table(page):
    rows = {}
    inside = False
    for line in open(page, encoding="utf-8"):
        if line.startswith("| After |"):
            inside = True
        elif inside and line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 5 and not cells[0].startswith(("…", "-")):
                rows.setdefault(cells[0], cells[1:])
        elif inside:
            break
    return rows


def row_of(rows, begin):
    exact = [name for name in rows if name == begin]
    found = exact or [name for name in rows if name.startswith(begin)]
    if len(found) != 1:
        sys.exit(f"{len(found)} rows begin with {begin}")
    return rows[found[0]]


def expected(cell, nodes, before):
    """F, L or M: the last place where a byte was seen from outside."""
    parts = cell.split(": ")
    cell = parts[-1] if nodes > 1 else parts[0]
    if not cell or cell.startswith("stays") or cell.startswith("the same") and before == "F":
        return before
    if cell.startswith("the same"):
        return "F"
    return {"R": "M", "N": "M", "D": "F"}.get(cell[0], cell[0])


def main():
    page, forebay, program, mpiexec, *preflags = sys.argv[1:]
    forebay, program = os.path.abspath(forebay), os.path.abspath(program)
    rows = table(page)
    wrong = 0
    for column, mode in enumerate(("strict", "commit", "automatic", "log", "log, synced")):
        for nodes in (1, 2):
            folder = tempfile.mkdtemp(prefix="where-bytes-")
            logs = mode.startswith("log")
            hints = [f"forebay_log={folder}", "forebay_log_bytes=1m"] if logs else []
            if mode == "log, synced":
                column = 3
                hints.append("forebay_sync=log")
            if nodes == 2:
                hints.append("forebay_ranks_per_node=1")
            options = [] if logs else ["--mode", mode]
            options += ["--hints", ";".join(hints)] if hints else []
            run = subprocess.run([forebay, "run", *options, mpiexec, *preflags, "-n", "2", program, folder, *(["waits"] if mode == "automatic" else [])],
                                 cwd=folder, capture_output=True, text=True, timeout=200, check=False,
                                 env={**os.environ, "TMPDIR": "/tmp"})
            seen = dict(re.findall(r"^(\S+) (\S+)$", run.stdout, re.M))
            if run.returncode or len(seen) < 40:
                print(f"{mode}, {nodes} nodes: status {run.returncode}, {len(seen)} lines\n{run.stdout}{run.stderr}")
                wrong += 1
            for key, place in seen.items():
                write, _, call = key.partition("+")
                if key == "finalize":
                    want = expected(row_of(rows, "`MPI_Finalize`")[column], nodes, "?")
                else:
                    want = expected(row_of(rows, WRITES[write])[column], nodes, "?")
                    if call:
                        row = CALLS[call][1 if write.startswith("pnetcdf") else 0]
                        # A collective read follows an independent one of the same bytes.
                        want = expected(row_of(rows, row)[column], nodes, want)
                        # The row below: on several nodes it is for what ranks have put together.
                        if call == "sync" and mode == "log, synced":
                            want = "L" if nodes == 1 or write == "pnetcdf-collective" else "F"
                if place != want:
                    print(f"{mode}, {nodes} nodes: {key}: the table says {want}, it is {place}")
                    wrong += 1
            shutil.rmtree(folder)
    sys.exit(1 if wrong else 0)


main()
