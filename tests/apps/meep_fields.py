# Meep: meep_fields.py FOLDER N OUTPUTS. A cell of N^3 points; its output functions write the fields, a new HDF5 file each.
import os
import sys

import meep as mp
from mpi4py import MPI

comm = MPI.COMM_WORLD
folder, n, outputs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mp.verbosity(0)
pulse = mp.Source(mp.GaussianSource(0.5, fwidth=0.2), mp.Ez, mp.Vector3())
sim = mp.Simulation(cell_size=mp.Vector3(4, 4, 4), resolution=n / 4, boundary_layers=[mp.PML(0.5)], sources=[pulse])
if mp.am_master():
    os.makedirs(folder, exist_ok=True)
comm.Barrier()
sim.filename_prefix = "m"
sim.use_output_directory(folder)
sim.init_sim()
sim.fields.step()
comm.Barrier()
start = MPI.Wtime()
for _ in range(outputs):
    mp.output_efield(sim)
    mp.output_epsilon(sim)
    mp.output_hfield_z(sim)
    sim.fields.step()
seconds = comm.reduce(MPI.Wtime() - start, MPI.MAX)
if comm.rank == 0:
    print("IO seconds %.6f" % seconds)
