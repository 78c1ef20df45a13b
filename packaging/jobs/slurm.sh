#!/bin/bash
#SBATCH --job-name=model
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=64
#SBATCH --time=02:00:00
# A TERM comes two minutes before the end: what Forebay keeps is written then.
#SBATCH --signal=TERM@120
module load openmpi hdf5 forebay
srun forebay run --stats "report-$SLURM_JOB_ID.json" ./model
forebay report "report-$SLURM_JOB_ID.json"
