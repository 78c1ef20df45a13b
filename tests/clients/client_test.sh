#!/usr/bin/env bash
# One client of PnetCDF that knows nothing of Forebay, on PnetCDF's own driver and on Forebay's, strict and commit: exit
# status, output and every file it leaves are the same, and Forebay's driver was active.
# client_test.sh NAME MPIEXEC RANKS FOREBAY PROGRAM: FOREBAY is the command, which finds the way to attach.
set -u
name=$1 mpiexec=$2 ranks=$3 forebay=$4 program=$5
work=$(pwd)/$name.$ranks
rm -rf "$work"
mkdir -p "$work"/{stock,strict,commit}
cd "$work" || exit 1

fail() {
  echo "$name, $ranks ranks: $*" >&2
  for f in */out */err; do [ -s "$f" ] && { echo "--- $f"; head -40 "$f"; } >&2; done
  exit 1
}

# run DIR COMMAND…: in DIR/files, so that the files have the same names everywhere
run() {
  local dir=$1
  shift
  mkdir "$dir/files"
  (cd "$dir/files" && "$mpiexec" -n "$ranks" "$@" >../out 2>../err </dev/null)
}

run stock "$program" || fail "the program fails on PnetCDF's own driver"
[ -n "$(ls stock/files)" ] || fail "the program leaves no file"
for mode in strict commit; do
  run $mode "$forebay" run --mode $mode --stats "$work/$mode/stats.json" "$program" ||
    fail "the program fails under Forebay, $mode"
  grep -q '"pnetcdf"' $mode/stats.json || fail "no report: the driver was not active, $mode"
  cmp stock/out $mode/out >&2 || fail "the program prints something else, $mode"
  [ ! -s $mode/err ] || fail "something was said though all is well, $mode"
  [ "$(ls stock/files)" = "$(ls $mode/files)" ] || fail "other files, $mode"
  for f in stock/files/*; do
    cmp "$f" "$mode/files/${f##*/}" >&2 || fail "${f##*/} differs, $mode"
  done
done
cd .. && rm -rf "$work"
