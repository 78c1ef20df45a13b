# DOLFINx: dolfinx_xdmf.py FILE.xdmf N STEPS. XDMFFile writes the mesh of a cube of N^3 cells, and a function of it in
# each step.
import sys

import numpy as np
from dolfinx import fem, graph, io, mesh
from mpi4py import MPI

comm = MPI.COMM_WORLD
path, n, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def stay(_comm, _parts, _types, cells):
    """Cells stay where they were made: the default partitioner decides differently from run to run."""
    count = sum(len(c) for c in cells) // 4
    return graph.adjacencylist(np.full((count, 1), comm.rank, dtype=np.int32))


cube = mesh.create_unit_cube(comm, n, n, n, partitioner=stay)
u = fem.Function(fem.functionspace(cube, ("Lagrange", 1, (3,))))
u.name = "u"
comm.Barrier()
start = MPI.Wtime()
with io.XDMFFile(comm, path, "w") as file:
    file.write_mesh(cube)
    for step in range(steps):
        u.interpolate(lambda x: np.stack([x[0] + step, x[1], x[2]]))
        file.write_function(u, float(step))
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
