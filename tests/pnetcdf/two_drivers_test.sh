#!/usr/bin/env bash
# Runs a test program of one_run.cpp twice, the second time with the driver loaded, and compares files and logs: two_drivers_test.sh MPIEXEC RANKS PROGRAM DRIVER [ARGUMENT…]
#
# Both on ROMIO without data sieving: where MPI-IO writes whole ranges, bytes that nobody put hold what was in its buffers, and
# there is nothing to compare. That goes for the second run, too, whose independent puts are PnetCDF's own.
set -u
mpiexec=$1 ranks=$2 program=$3 driver=$4
shift 4
work=$(pwd)/two_drivers.$(basename "$program").$ranks
rm -rf "$work"
mkdir -p "$work/stock" "$work/forebay"
printf 'romio_cb_write disable\nromio_ds_write disable\n' >"$work/exact"
(cd "$work/stock" && OMPI_MCA_io=romio341 ROMIO_HINTS="$work/exact" FOREBAY_TEST_RUN=stock "$mpiexec" -n "$ranks" "$program" "$@") || exit 1
(cd "$work/forebay" && OMPI_MCA_io=romio341 ROMIO_HINTS="$work/exact" FOREBAY_TEST_RUN=forebay "$mpiexec" -n "$ranks" env LD_PRELOAD="$driver" "$program" "$@") || exit 1
diff -r -q "$work/stock" "$work/forebay" || exit 1
[ "$(ls "$work/stock" | wc -l)" -gt 0 ] || exit 1
rm -rf "$work"
