# ADIOS2's HDF5 engine: adios2_steps.py FILE ROW_BYTES STEPS ROWS. In each step every rank puts its columns of a
# (row, column) array: ROWS pieces of ROW_BYTES.
import sys

import adios2
import numpy as np
from adios2.bindings import Mode
from mpi4py import MPI

comm = MPI.COMM_WORLD
path, width, steps, rows = sys.argv[1], int(sys.argv[2]) // 8, int(sys.argv[3]), int(sys.argv[4])
data = np.arange(rows * width, dtype=float).reshape(rows, width) + 1e5 * comm.rank

adios = adios2.Adios(comm)
io = adios.declare_io("output")
io.set_engine("HDF5")
variable = io.define_variable("T", data, [rows, width * comm.size], [0, width * comm.rank], [rows, width], True)
comm.Barrier()
start = MPI.Wtime()
engine = io.open(path, Mode.Write)
for step in range(steps):
    engine.begin_step()
    engine.put(variable, data + 1e6 * step, Mode.Sync)
    engine.end_step()
engine.close()
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
