#!/bin/bash
# Whole runs of the AMR example: a run with a checkpoint in the middle, on other ranks and in another way, leaves the files and the
# picture of one without; broken files are refused.
# usage: runs_test.sh MPIEXEC AMR FOREBAY
set -euo pipefail
mpiexec=$1 amr=$2 forebay=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
amr() { # amr RANKS OPTION...
  local ranks=$1
  shift
  "$mpiexec" -n "$ranks" "$amr" --scale 0.0005 "$@" >log 2>&1 || { cat log && echo "FAIL amr on $ranks ranks: $*" && exit 1; }
}
under() { # under RANKS OPTION...: the same under Forebay
  local ranks=$1
  shift
  "$mpiexec" -n "$ranks" "$forebay" run --verbose "$amr" --scale 0.0005 "$@" >log 2>&1 ||
    { cat log && echo "FAIL amr under forebay run: $*" && exit 1; }
  grep -q "runs on Forebay's driver" log || { cat log && echo "FAIL not on Forebay's driver: $*" && exit 1; }
}
same() { cmp "$1" "$2" || { echo "FAIL $1 and $2 differ: $3" && exit 1; }; }
refused() { # refused RANKS WORDS OPTION...: fails, and says so once
  local ranks=$1 words=$2
  shift 2
  if "$mpiexec" -n "$ranks" "$amr" "$@" >log 2>&1; then echo "FAIL not refused: $*" && exit 1; fi
  [ "$(grep -c -- "$words" log)" = 1 ] || { cat log && echo "FAIL does not say '$words': $*" && exit 1; }
}

# The run that nothing interrupts, and one that a checkpoint of 3 ranks does.
amr 1 --space serial --steps 9 --write whole.amr --picture whole.png --picture-pixels 300
amr 3 --steps 6 --write half.amr
amr 4 --threads 2 --restart half.amr --steps 9 --write resumed.amr --picture resumed.png --picture-pixels 300
same whole.amr resumed.amr "restart from 3 ranks on 4"
same whole.png resumed.png "the picture"
FOREBAY_HINTS=forebay_mode=strict amr 2 --restart half.amr --steps 9 --write strict.amr
same whole.amr strict.amr "strict"
amr 2 --way mpiio --restart half.amr --steps 9 --write independent.amr
same whole.amr independent.amr "independent MPI-IO"

# HDF5 and PnetCDF: from one library's file to the other's; stock and under Forebay.
amr 2 --restart half.amr --steps 6 --write half.h5
amr 3 --restart half.h5 --steps 6 --write half.nc
amr 2 --restart half.nc --steps 9 --write whole.nc
amr 1 --restart whole.nc --steps 9 --write by_way_of_netcdf.amr
same whole.amr by_way_of_netcdf.amr "restart by way of HDF5 and PnetCDF"
for kind in h5 nc; do
  amr 1 --steps 6 --write "one.$kind"
  same half.$kind "one.$kind" "on other ranks"
  under 3 --steps 6 --write "forebay.$kind"
  same half.$kind "forebay.$kind" "stock and under Forebay"
  under 2 --restart half.$kind --steps 9 --write forebay.amr
  same whole.amr forebay.amr "read under Forebay"
done
under 3 --way hdf5-multi --steps 6 --write multi.h5
same half.h5 multi.h5 "H5Dwrite_multi"

# What is wrong is told, and by one rank alone.
bytes=$(stat -c %s half.amr)
echo "not a checkpoint, but a text" >text.amr
refused 2 'not a checkpoint' --restart text.amr
refused 2 'cannot be read' --restart missing.amr
refused 2 'is before it' --restart half.amr --steps 5
{ head -c 8 half.amr && printf '\2' && tail -c +10 half.amr; } >version.amr
refused 2 'version 2' --restart version.amr
head -c $((bytes - 8)) half.amr >short.amr
refused 2 'truncated' --restart short.amr
head -c 20 half.amr >shorter.amr
refused 2 'too short' --restart shorter.amr
refused 2 'nowhere' --write nowhere/state.amr
for kind in amr h5 nc; do # one byte, in the middle, which is of a value or an index
  cp half.$kind broken.$kind
  bytes=$(stat -c %s half.$kind)
  printf '\125' | dd of=broken.$kind bs=1 seek=$((bytes / 2)) conv=notrunc status=none
  if cmp -s half.$kind broken.$kind; then echo "FAIL that byte was already so" && exit 1; fi
  refused 3 'damaged' --restart broken.$kind --steps 9
done
echo "all runs are as they have to be"
