#!/usr/bin/env bash
# Programs that end without closing their file, in commit mode: ending_test.sh CASE MPIEXEC RANKS PROGRAM LOADED
# LOADED is what is preloaded: the driver, or the shim beside it.
set -u
case_=$1 mpiexec=$2 ranks=$3 program=$4 loaded=$5
work=$(pwd)/ending_$case_.$ranks
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

fail() {
  echo "$case_: $*" >&2
  for f in *.err; do [ -s "$f" ] && { echo "--- $f"; grep -v '^\[\|^--\|^$' "$f" | head -20; } >&2; done
  exit 1
}
run() {
  local name=$1
  shift
  timeout 60 "$mpiexec" -n "$ranks" env LD_PRELOAD="$loaded" FOREBAY_LIBDIR="${FOREBAY_LIBDIR:-}" \
    FOREBAY_HINTS="$hints" "$program" "$@" >"$name.out" 2>"$name.err"
}
hints=forebay_mode=commit ways="b c"
# Where a rank fails, Hydra kills the others by SIGKILL. What collective puts left is there for the keeper process to write; that
# independent puts made more records is not known to it.
if [[ $case_ == abort || $case_ == exit ]] && "$mpiexec" --version 2>&1 | grep -qi hydra; then
  hints="forebay_mode=automatic;forebay_keeper=start" ways=b
fi
same() { cmp ${2:-} a.nc "$1" >&2 || fail "$1 is not what a closed file would be"; }

closed=close
[ "$case_" != abort_one ] || closed=close_one
[[ $case_ != turns_* ]] || closed=turns_close
"$mpiexec" -n "$ranks" "$program" a.nc $closed >stock.out 2>stock.err || fail "the program fails on PnetCDF's own driver"
case $case_ in
  wait)  # all ranks are told to end; the first that does makes the launcher kill the others, on a busy machine too soon
    for _ in $(seq 5); do
      rm -f b.nc wait.out
      timeout 60 "$mpiexec" -n "$ranks" env LD_PRELOAD="$loaded" FOREBAY_LIBDIR="${FOREBAY_LIBDIR:-}" \
        FOREBAY_HINTS="forebay_mode=commit" "$program" b.nc wait >wait.out 2>wait.err &
      for _ in $(seq 200); do
        [ "$(grep -c ready wait.out 2>/dev/null)" = "$ranks" ] && break
        sleep 0.1
      done
      cmp -s a.nc b.nc && fail "everything is in the file already: nothing was kept"
      kill -TERM $(sed -n 's/.*ready //p' wait.out) || fail "no rank to be told"
      wait $!
      cmp -s a.nc b.nc && break
    done
    same b.nc
    ;;
  *)
    # Where a rank ends before MPI_Finalize, the launcher kills the others, which may be in the middle of theirs: it gives them some
    # milliseconds, on a busy machine too few.
    tries=1
    case $case_ in abort | exit | signal) tries=5 ;; esac
    for way in $ways; do
      for _ in $(seq $tries); do
        run $way $way.nc "$case_" $([ $way = b ] || echo independent)
        cmp -s a.nc $way.nc && break
      done
      # Independent puts of one rank: nobody knows whether the others would have put their part of its records.
      [ "$way$case_" != cabort_one ] || { same $way.nc --ignore-initial=12 && continue; }
      same $way.nc
      [[ $case_ != turns_* ]] || exit 0 # without a sync ranks that put by themselves have no order
    done
    ;;
esac
cd .. && rm -rf "$work"
