#!/usr/bin/env bash
# What random programs left under Forebay is read by one process with the stock libraries, and compared with the model.
# stock_reads_test.sh MPIEXEC RANKS FOREBAY MODE PROGRAM [ARGUMENT...]
set -eu
mpiexec=$1 ranks=$2 forebay=$3 mode=$4 program=$5
shift 5
work=$(pwd)/stock_reads.$mode
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$mpiexec" -n "$ranks" "$forebay" run --mode "$mode" "$program" --forebay --keep "$@"
FOREBAY_ENABLE=off "$mpiexec" -n 1 "$program" --verify "$ranks" "$@"
cd ..
rm -rf "$work"
