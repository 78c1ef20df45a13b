# Parallel h5py: h5py_blocks.py FILE ROW_BYTES DATASETS STEPS [collective]. Each rank writes its block of (time, y, x)
# datasets, ranks side by side in x: 128 pieces of ROW_BYTES a call.
import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
path, width, count, steps = sys.argv[1], int(sys.argv[2]) // 4, int(sys.argv[3]), int(sys.argv[4])
collective = sys.argv[5:] == ["collective"]
rows = 128
mine = slice(width * comm.rank, width * (comm.rank + 1))
data = np.arange(rows * width, dtype=np.float32).reshape(rows, width) + comm.rank

comm.Barrier()
start = MPI.Wtime()
with h5py.File(path, "w", driver="mpio", comm=comm) as file:
    for k in range(count):
        dataset = file.create_dataset("u%d" % k, (steps, rows, width * comm.size), "f4")
        dataset.attrs["units"] = "m/s"
        for step in range(steps):
            if collective:
                with dataset.collective:
                    dataset[step, :, mine] = data + 100 * step + k
            else:
                dataset[step, :, mine] = data + 100 * step + k
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
