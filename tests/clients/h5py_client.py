"""h5py on parallel HDF5: independent and collective, empty slices, compressed, points, growth, attributes by the dozen, links,
deletion, a copy; re-opened and read by another rank. Prints what was read, rank by rank, and fails where it is not what was written."""
import faulthandler
import hashlib
import sys

try:
    try:
        import h5py

        h5py.get_config
    except (ImportError, AttributeError):  # Debian's builds lie side by side
        from h5py import _debian_h5py_mpi as h5py
    import numpy
    from mpi4py import MPI

    if not h5py.get_config().mpi:
        raise ImportError("h5py is built without MPI")
except ImportError as reason:
    print("no h5py with MPI here:", reason)
    sys.exit(77)

comm = MPI.COMM_WORLD
faulthandler.dump_traceback_later(60, exit=True)  # says where it hangs
rank, ranks = comm.rank, comm.size
rows, columns = 7 * ranks, 40
mine = slice(7 * rank, 7 * rank + 7)
next_one = slice(7 * ((rank + 1) % ranks), 7 * ((rank + 1) % ranks) + 7)
whole = numpy.arange(rows * columns, dtype="i4").reshape(rows, columns) * 3 + 1
lines = []
wrong = 0


def saw(name, values, expected):
    global wrong
    values = numpy.ascontiguousarray(values)
    lines.append(f"{name} {hashlib.md5(values.tobytes()).hexdigest()}")
    if not numpy.array_equal(values, expected):
        lines.append(f"WRONG {name}")
        wrong += 1


def fails(name, action):
    try:
        action()
        lines.append(f"{name}: no error")
    except Exception as error:  # its text may name drivers and lines
        lines.append(f"{name}: {type(error).__name__}")


def write(file):
    plain = file.create_dataset("plain", (rows, columns), dtype="i4")
    plain[mine] = whole[mine]
    strided = file.create_dataset("strided", (rows, columns), dtype="i4")
    with strided.collective:
        strided[:, rank::ranks] = whole[:, rank::ranks]
    # The first rank has nothing. h5py leaves calls out for which nothing is selected, also collective ones.
    extent, memory = h5py.h5s.create_simple((rows, columns)), h5py.h5s.create_simple((7, columns))
    if rank == 0:
        extent.select_none()
        memory.select_none()
    else:
        extent.select_hyperslab((7 * rank, 0), (7, columns))
    collective = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    collective.set_dxpl_mpio(h5py.h5fd.MPIO_COLLECTIVE)
    strided.id.write(memory, extent, numpy.ascontiguousarray(whole[mine]), dxpl=collective)
    # The type in memory: conversion would end the collective transfer, and only that can write what is compressed.
    packed = file.create_dataset(
        "packed", (rows, columns), dtype="i4", chunks=(5, 9), compression="gzip", shuffle=True, fletcher32=True
    )
    with packed.collective:
        packed[mine] = whole[mine]
    if ranks > 1:
        fails("independent write of what is compressed", lambda: packed.__setitem__((mine, 0), 5))
    points = file.create_dataset("points", (rows, columns), dtype=">f4", fillvalue=-1.5)
    mask = numpy.zeros((rows, columns), dtype=bool)
    mask[mine, ::7] = True
    points[mask] = whole[mask]
    growing = file.create_dataset("growing", (2, rows), maxshape=(None, rows), chunks=(1, 7), dtype="u2", fillvalue=9)
    growing.resize((5, rows))
    with growing.collective:
        growing[1:3, mine] = rank + 1
    record = numpy.dtype([("id", "i4"), ("heat", ">f8"), ("speed", "f4", 3)])
    table = file.create_dataset("table", (rows,), dtype=record)
    values = numpy.zeros(7, dtype=record)
    values["id"], values["heat"], values["speed"] = numpy.arange(7) + 7 * rank, rank / 4, rank
    with table.collective:
        table[mine] = values
    file["scalar"] = 2.5
    fails("outside", lambda: plain[rows + 3, 0])


def change(file):
    for g in range(30):
        group = file.create_group(f"groups/group{g}")
        for a in range(4):
            group.attrs[f"attribute{a}"] = numpy.arange(a + 1) * g
        group["link"] = h5py.SoftLink("/plain")
    for a in range(20):
        file.attrs[f"root{a}"] = "text" * a
    for g in range(0, 30, 4):
        del file[f"groups/group{g}"]
    # Their space is used again at once.
    temporary = file.create_dataset("temporary", (rows, columns), dtype="i4")
    temporary[mine] = 7
    comm.Barrier()
    del temporary, file["temporary"]
    again = file.create_dataset("again", (rows, columns), dtype="i4", fillvalue=3)
    again[mine, 5:9] = whole[mine, 5:9]
    comm.Barrier()
    file.copy("plain", "copy")
    comm.Barrier()
    file.move("again", "moved")
    file.flush()


def read(file, part, collective):
    def take(name, selection):
        data = file[name]
        if not collective:
            return data[selection]
        with data.collective:
            return data[selection]

    for name in ("plain", "strided", "packed", "copy"):
        saw(name, take(name, part), whole[part])
    saw("empty", take("plain", slice(4, 4)), whole[4:4])
    expected = numpy.full((rows, columns), -1.5)
    expected[:, ::7] = whole[:, ::7]
    saw("points", take("points", part), expected[part])
    saw("fancy", file["plain"][[0, rows // 2, rows - 1]], whole[[0, rows // 2, rows - 1]])
    expected = numpy.full((5, rows), 9)
    expected[1:3] = numpy.repeat(numpy.arange(ranks) + 1, 7)
    saw("growing", take("growing", (slice(None), part)), expected[:, part])
    saw("id", take("table", part)["id"], numpy.arange(rows)[part])
    expected = numpy.full((rows, columns), 3)
    expected[:, 5:9] = whole[:, 5:9]
    saw("moved", take("moved", part), expected[part])
    saw("attribute", file["groups/group5"].attrs["attribute3"], numpy.arange(4) * 5)
    saw("counts", [len(file["groups"]), len(file.attrs["root19"])], [22, 76])


with h5py.File("client.h5", "w", driver="mpio", comm=comm) as file:
    lines.append(file.driver)
    write(file)
    change(file)
    comm.Barrier()
    read(file, next_one, collective=False)
with h5py.File("client.h5", "r+", driver="mpio", comm=comm) as file:
    read(file, mine, collective=True)
    file.atomic = True
    lines.append(f"atomic {file.atomic}")
    file["plain"][mine, 1] = -rank
    file.atomic = False
    comm.Barrier()
    saw("after atomic", file["plain"][:, 1], -numpy.repeat(numpy.arange(ranks), 7))
    comm.Barrier()
    file["plain"][mine, 1] = whole[mine, 1]
with h5py.File("client.h5", "r", driver="mpio", comm=comm) as file, h5py.File("second.h5", "w", driver="mpio", comm=comm) as other:
    read(file, next_one, collective=True)
    second = other.create_dataset("second", (rows, columns), dtype="i4", chunks=(6, 11))
    with second.collective:
        second[mine] = file["plain"][mine]
    saw("second", second[mine], whole[mine])

everything = comm.gather(lines)
if rank == 0:
    for r, of_rank in enumerate(everything):
        print(f"rank {r}", *of_rank, sep="\n ")
sys.exit(1 if comm.allreduce(wrong) else 0)
