#!/bin/bash
# The Kokkos example: a restart on another number of ranks ends where the run that wrote it did.
# usage: checkpoint_test.sh MPIEXEC PROGRAM
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { "$1" -n "$2" "$3" "$work/state.dat" 20 "${@:4}" 2>"$work/err" || { cat "$work/err" && exit 1; }; }
written=$(run "$1" 2 "$2")
[ "$(stat -c %s "$work/state.dat")" = $((2 * 30 * 40 * 50 * 8)) ] || { echo "FAIL the file's size" && exit 1; }
for ranks in 1 3; do
  restarted=$(run "$1" $ranks "$2" restart)
  [ "$restarted" = "$written" ] || { echo "FAIL on $ranks ranks: $restarted, not $written" && exit 1; }
done
# Something else would be noticed.
printf 'x' | dd of="$work/state.dat" bs=1 seek=100007 conv=notrunc status=none
[ "$(run "$1" 1 "$2" restart)" != "$written" ] || { echo "FAIL nothing depends on the file" && exit 1; }
echo "ok: $written"
