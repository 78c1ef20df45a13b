#!/usr/bin/env bash
# What the node keeps of an HDF5 file is in the file after the program has ended in this way or that one.
#   ending_test.sh MPIEXEC RANKS FOREBAY ENDING_PROGRAM HOW
set -u
mpiexec=$1 ranks=$2 forebay=$3 program=$4 how=$5
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
timeout 60 "$mpiexec" -n "$ranks" "$forebay" run --mode commit --hints 'forebay_stripe_bytes=64k' "$program" "$how" >log 2>&1
"$program" check && exit 0
tail -n 20 log
exit 1
