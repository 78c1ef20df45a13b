#!/usr/bin/env bash
# Runs two test programs of one_run.cpp, the same but for the driver, and compares files and logs:
#   two_drivers_test.sh MPIEXEC RANKS STOCK_PROGRAM PROGRAM DRIVER [ARGUMENT…]
# DRIVER is loaded into PROGRAM; where it is -, PROGRAM has the driver inside. The program itself fails where it does not run
# on the driver that it should.
set -u
mpiexec=$1 ranks=$2 stock=$3 program=$4 driver=$5
shift 5
work=$(pwd)/two_drivers.$(basename "$program").$ranks
rm -rf "$work"
mkdir -p "$work/stock" "$work/forebay"
(cd "$work/stock" && FOREBAY_TEST_RUN=stock "$mpiexec" -n "$ranks" "$stock" "$@") || exit 1
preload=()
[ "$driver" = - ] || preload=(env LD_PRELOAD="$driver")
(cd "$work/forebay" && FOREBAY_TEST_RUN=forebay "$mpiexec" -n "$ranks" "${preload[@]}" "$program" "$@") || exit 1
diff -r "$work/stock" "$work/forebay" | head -n 40
diff -r -q "$work/stock" "$work/forebay" >/dev/null || exit 1
[ "$(find "$work/stock" -name '*.nc' | wc -l)" -gt 0 ] || exit 1
rm -rf "$work"
