#!/usr/bin/env bash
# What a program left unclosed is in its file when it has ended in this way or that one.
#   ending_test.sh MPIEXEC RANKS PROGRAM HOW [COMMAND…]: COMMAND comes before the program
set -u
mpiexec=$1 ranks=$2 program=$3 how=$4
shift 4
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
# Where one rank aborts, or exits before MPI_Finalize, the launcher kills the others: it gives them some milliseconds, on a busy machine too few.
for _ in 1 2 3; do
  timeout 20 "$mpiexec" -n "$ranks" "$@" "$program" "$how" >log 2>&1
  [ $? -ne 124 ] || { echo "it did not end" && exit 1; }
  "$program" check "$ranks" && exit 0
  [[ $how =~ abort|exit|signal && $ranks -gt 1 ]] || break
done
tail -n 20 log
exit 1
