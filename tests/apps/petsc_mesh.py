# PETSc's HDF5 viewer, a checkpoint of an unstructured mesh: petsc_mesh.py FILE FACES VECTORS. Topology, labels,
# coordinates and section of a box of FACES^3 hexahedra, and vectors of three values a vertex.
import sys

import numpy as np
from mpi4py import MPI
from petsc4py import PETSc

comm = MPI.COMM_WORLD
path, faces, vectors = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mesh = PETSc.DMPlex().createBoxMesh([faces] * 3, simplex=False, comm=comm)
mesh.getPartitioner().setType("simple")
mesh.distribute()
mesh.setName("mesh")
section = PETSc.Section().create(comm=comm)
section.setChart(*mesh.getChart())
for vertex in range(*mesh.getDepthStratum(0)):
    section.setDof(vertex, 3)
section.setUp()
dofs = mesh.clone()
dofs.setName("dofs")
dofs.setLocalSection(section)
x = dofs.createGlobalVector()
first, last = x.getOwnershipRange()
comm.Barrier()
start = MPI.Wtime()
viewer = PETSc.ViewerHDF5().create(path, "w", comm=comm)
viewer.pushFormat(PETSc.Viewer.Format.HDF5_PETSC)
mesh.topologyView(viewer)
mesh.labelsView(viewer)
mesh.coordinatesView(viewer)
mesh.sectionView(viewer, dofs)
for k in range(vectors):
    x.setArray(np.arange(first, last) + 1e7 * k)
    x.setName("u%d" % k)
    mesh.globalVectorView(viewer, dofs, x)
viewer.destroy()
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
