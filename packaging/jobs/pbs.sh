#!/bin/bash
#PBS -N model
#PBS -l select=4:ncpus=64:mpiprocs=64
#PBS -l walltime=02:00:00
cd "$PBS_O_WORKDIR" || exit 1
module load openmpi hdf5 forebay
mpiexec forebay run --stats "report-$PBS_JOBID.json" ./model
forebay report "report-$PBS_JOBID.json"
