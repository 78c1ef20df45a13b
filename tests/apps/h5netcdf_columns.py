# h5netcdf on parallel h5py: h5netcdf_columns.py FILE RUN_BYTES VARIABLES STEPS [collective]. Each rank writes its columns
# of (time, level, column) variables: 64 pieces of RUN_BYTES a call.
import sys

import h5netcdf
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
path, width, count, steps = sys.argv[1], int(sys.argv[2]) // 8, int(sys.argv[3]), int(sys.argv[4])
collective = sys.argv[5:] == ["collective"]
levels = 64
mine = slice(width * comm.rank, width * (comm.rank + 1))
data = np.arange(levels * width, dtype=float).reshape(levels, width) + 1e6 * comm.rank

comm.Barrier()
start = MPI.Wtime()
with h5netcdf.File(path, "w", driver="mpio", comm=comm) as file:
    file.dimensions = {"time": steps, "level": levels, "column": width * comm.size}
    file.attrs["title"] = "columns"
    variables = [file.create_variable("T%d" % k, ("time", "level", "column"), "f8") for k in range(count)]
    for variable in variables:
        variable.attrs["units"] = "K"
    for step in range(steps):
        for k, variable in enumerate(variables):
            values = data + 1e4 * step + 1e8 * k
            if collective:  # h5netcdf has no word for it; h5py below it has
                with variable._h5ds.collective:
                    variable._h5ds[step, :, mine] = values
            else:
                variable[step, :, mine] = values
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
