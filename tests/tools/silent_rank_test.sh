#!/bin/bash
# A job of which one rank, not the first, cannot become its program: the launcher's output has the reason.
# usage: silent_rank_test.sh FOREBAY MPIEXEC
set -uo pipefail
forebay=$1 mpiexec=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "no program" >"$work/data"

failures=0
# tells RANKS STATUS REASON ARGUMENTS...: the ranks of the list run forebay with the arguments, the others wait.
tells() {
  local ranks=$1 status=$2 reason=$3 got=0
  shift 3
  # shellcheck disable=SC2016 # for the shell on each rank
  "$mpiexec" -n 3 sh -c 'case " '"$ranks"' " in *" ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} "*) exec "$@" ;; *) sleep 60 ;; esac' _ \
    "$forebay" run "$@" >"$work/out" 2>&1 || got=$?
  if [ "$got" = "$status" ] && grep -qF "forebay: $reason" "$work/out"; then
    echo "ok   ranks $ranks: $reason"
  else
    echo "FAIL ranks $ranks: status $got, expected $status and: $reason" && cat "$work/out"
    failures=$((failures + 1))
  fi
}
tells 1 127 "cannot find the program ./no_such_program" ./no_such_program
tells 2 126 "may not execute $work/data" "$work/data"
tells 1 2 '--mode: hint forebay_mode: "comit" does not fit' --mode comit true
tells 1 2 '--hints: unknown hint "forebay_mod"; did you mean forebay_mode' --hints forebay_mod=x true
tells "1 2" 127 "cannot find the program ./no_such_program" ./no_such_program
tells "0 1 2" 127 "cannot find the program ./no_such_program" ./no_such_program
exit $((failures > 0))
