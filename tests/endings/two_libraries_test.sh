#!/usr/bin/env bash
# What each of two libraries keeps is in its file when the program has ended: two_libraries_test.sh MPIEXEC FOREBAY PROGRAM
set -u
mpiexec=$1 forebay=$2 program=$3
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
signal=143
if "$mpiexec" --version 2>&1 | grep -qi hydra; then signal=15; fi # it tells the wait status
for first in pnetcdf hdf5; do
  for end in signal:$signal abort:7; do
    rm -f two.nc two.h5
    timeout 20 "$mpiexec" -n 1 "$forebay" run --mode commit "$program" $first "${end%:*}" >log 2>&1
    status=$?
    for file in two.nc two.h5; do
      [ $status = "${end#*:}" ] && od -A n -v -t x1 -w4 $file | grep -q '11 22 33 44' && continue
      echo "$first first, ${end%:*}: status $status; $file lacks what was kept, or the status is another one"
      cat log
      exit 1
    done
  done
done
