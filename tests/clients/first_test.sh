#!/usr/bin/env bash
# The commands of "Get started": the first example stock and under Forebay, compared by h5diff, and its report.
# first_test.sh MPIEXEC FIRST FOREBAY H5DIFF
set -eu
mpiexec=$1 first=$2 forebay=$3 h5diff=$4
work=$(pwd)/first
rm -rf "$work" && mkdir "$work" && cd "$work"
"$mpiexec" -n 4 "$first"
mv first.h5 stock.h5
"$mpiexec" -n 4 "$forebay" run --stats report.json "$first"
"$h5diff" stock.h5 first.h5
"$forebay" report report.json | tee report.txt
grep -q 'program put     200 requests of 24.4 MiB: 400 000 pieces, on average 64 bytes' report.txt
if grep -q 'stock driver' report.txt; then exit 1; fi
writes=$(sed -n 's/^  file writes  *\([0-9]*\) writes.*/\1/p' report.txt)
[ "$writes" -lt 1000 ]
cd .. && rm -rf "$work"
