# PETSc's HDF5 viewer, of a structured grid: petsc_grid.py FILE GRID VECTORS [steps]. Grids, cut in x among the ranks:
# 80: 42 x 64 x 64, pieces of 80 bytes and less; 19k: 9730 x 128, pieces of 19 KB; fit: as 80, but PETSc's chunks fit the
# ranks. With `steps` the vectors are time steps of one dataset.
import sys

import numpy as np
from mpi4py import MPI
from petsc4py import PETSc

comm = MPI.COMM_WORLD
path, grid, vectors, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:] == ["steps"]
sizes = {"80": (42, 64, 64), "19k": (9730, 128), "fit": (10 * comm.size, 64, 64)}[grid]
grid = PETSc.DMDA().create(sizes=sizes, proc_sizes=(comm.size,) + (1,) * (len(sizes) - 1), dof=1, stencil_width=1,
                           stencil_type=PETSc.DMDA.StencilType.STAR, comm=comm)
x = grid.createGlobalVector()
first, last = x.getOwnershipRange()
comm.Barrier()
start = MPI.Wtime()
viewer = PETSc.ViewerHDF5().create(path, "w", comm=comm)
if steps:
    viewer.pushTimestepping()
for k in range(vectors):
    x.setArray(np.arange(first, last) + 1e7 * k)
    x.setName("u" if steps else "u%d" % k)
    if steps:
        viewer.setTimestep(k)
    x.view(viewer)
viewer.destroy()
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
