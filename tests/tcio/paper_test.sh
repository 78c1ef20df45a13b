#!/bin/bash
# The paper's two programs: identical files.
# usage: paper_test.sh MPIEXEC RANKS MPIIO_PROGRAM TCIO_PROGRAM LEN SIZE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -n "$2" "$3" "$work/views.dat" "$5" "$6"
"$1" -n "$2" "$4" "$work/tcio.dat" "$5" "$6"
[ "$(stat -c %s "$work/tcio.dat")" = $(($2 * $5 * 12)) ] || { echo "FAIL the file's size" && exit 1; }
cmp "$work/views.dat" "$work/tcio.dat"
