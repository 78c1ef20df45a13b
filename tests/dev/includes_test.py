#!/usr/bin/env python3
"""Holds the sources to the table of rooms in CONTRIBUTING.md: what each room may include, and which libraries it needs.

includes_test.py CHECKOUT
Prints FILE:LINE: REASON for each line that breaks the table. Exit status: 0 if there is none.
"""
import pathlib
import re
import sys

SOURCES = {".h", ".hpp", ".c", ".cpp", ".def"}
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
# Headers of libraries, and the word that allows them in the column "Needs".
LIBRARIES = [(r"mpi\.h", "MPI"), (r"hdf5\.h|H5\w+\.h", "HDF5"), (r"p?netcdf\w*\.h", "PnetCDF"), (r"nlohmann/.*", "nlohmann-json"),
             (r"fmt/.*", "fmt"), (r"CLI/.*", "CLI11"), (r"Kokkos_.*", "Kokkos")]


class Room:
    def __init__(self, folder, allowed, needs):
        self.folder = folder
        self.name = folder.removeprefix("src/")  # as the table names it
        self.allowed = allowed  # names of rooms, or headers
        self.needs = needs


def rooms_of(table):
    """The rows that say what their room may include, and what is wrong with the table itself."""
    rooms, faults = [], []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        paths = re.findall(r"`([^`]+)/`", cells[1]) if len(cells) == 6 else []
        if len(paths) != 1:  # text, or a row of folders that are not checked
            continue
        allowed = set()
        for name in re.findall(r"`([^`]+)`", cells[3]):
            above = {room.name for room in rooms}
            if name == "src/":
                allowed |= {room.name for room in rooms if room.folder.startswith("src/")}
                continue
            if name not in above and "." not in name:
                faults.append(f"{paths[0]} may include {name}, which is no room above it")
            allowed.add(name)
        rooms.append(Room(paths[0], allowed, "" if "no MPI" in cells[4] else cells[4]))
    return rooms, faults


def room_of(rooms, path):
    """The innermost room that holds a path of the checkout."""
    holders = [room for room in rooms if path.startswith(room.folder + "/")]
    return max(holders, key=lambda room: len(room.folder), default=None)


def file_named(checkout, source, name):
    """The path in the checkout of the file that an #include names; None where it is none of ours."""
    around = [folder for folder in source.parents if folder.is_relative_to(checkout)]
    for folder in (*around, checkout / "src", checkout / "include"):
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(checkout):
            return str(path.relative_to(checkout))
    return None


def fault_of(checkout, rooms, source, name):
    """What is wrong with including this name there; None if nothing is."""
    room = room_of(rooms, str(source.relative_to(checkout)))
    for pattern, word in LIBRARIES:
        if re.fullmatch(pattern, name):
            return None if word in re.split(r"[ ,;]+", room.needs) else f"{room.folder} does without {word}"
    path = file_named(checkout, source, name)
    if path is None:
        return None
    other = room_of(rooms, path)
    if other is room or (other is not None and other.name in room.allowed) or path.removeprefix("src/") in room.allowed:
        return None
    return f"{room.folder} may not include {name}"


def main():
    checkout = pathlib.Path(sys.argv[1]).resolve()
    rooms, faults = rooms_of((checkout / "CONTRIBUTING.md").read_text())
    faults = [f"CONTRIBUTING.md: {fault}" for fault in faults]
    known = {room.folder for room in rooms}
    folders = [str(path.relative_to(checkout)) for path in (checkout / "src").iterdir() if path.is_dir()]
    faults += [f"CONTRIBUTING.md: no row for {folder}" for folder in sorted(folders) if folder not in known]
    faults += [f"CONTRIBUTING.md: {folder} is not there" for folder in sorted(known) if not (checkout / folder).is_dir()]
    lines = 0
    for top in sorted({room.folder.split("/")[0] for room in rooms}):
        for source in sorted((checkout / top).rglob("*")):
            if source.suffix not in SOURCES or room_of(rooms, str(source.relative_to(checkout))) is None:
                continue
            for number, line in enumerate(source.read_text().splitlines(), 1):
                if include := INCLUDE.match(line):
                    lines += 1
                    if fault := fault_of(checkout, rooms, source, include[1]):
                        faults.append(f"{source.relative_to(checkout)}:{number}: {fault}")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{lines} includes in {len(rooms)} rooms, {len(faults)} faults")
    # An empty table, or a tree without sources, has no faults either.
    return 1 if faults or len(rooms) < 10 or lines < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
