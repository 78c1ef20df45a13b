"""Writes with h5py on parallel HDF5 under `forebay run`, reads back, and looks for the file in the report: h5py_test.py REPORT."""
import json
import os
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
cells = 5000
path = os.path.abspath("python.h5")
with h5py.File(path, "w", driver="mpio", comm=comm) as file:
    assert file.driver == "mpio", file.driver  # what the program selected is what it sees
    data = file.create_dataset("value", (cells * comm.size,), dtype="i4")
    with data.collective:
        data[comm.rank :: comm.size] = numpy.arange(cells, dtype="i4") * comm.size + comm.rank
comm.Barrier()
if comm.rank == 0:
    with h5py.File(path, "r") as file:
        assert (file["value"][:] == numpy.arange(cells * comm.size)).all(), "the file does not hold what was written"
    with open(sys.argv[1], encoding="utf-8") as stream:
        files = json.load(stream)["files"]
    assert [file["path"] for file in files] == [path], files
    assert files[0]["driver"] == "hdf5" and files[0]["active"], files
    assert files[0]["ranks"] == comm.size and files[0]["bytes"] == 4 * cells * comm.size, files
