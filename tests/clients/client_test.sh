#!/usr/bin/env bash
# One client of PnetCDF or HDF5 that knows nothing of Forebay, on its library's own driver and on Forebay's: exit status,
# output and every file it leaves are the same, and Forebay's driver was active, for every file.
# client_test.sh NAME LIBRARY MODES MPIEXEC RANKS FOREBAY PROGRAM [ARGUMENT...]: LIBRARY is pnetcdf or hdf5, MODES those of
# Forebay to try (strict,commit), FOREBAY the command, which finds the way to attach. Exit status 77 of the program: it
# cannot run here.
set -u
name=$1 library=$2 modes=$3 mpiexec=$4 ranks=$5 forebay=$6
shift 6
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

run stock "$@"
status=$?
[ $status -ne 77 ] || { cat stock/out && exit 77; }
[ $status -eq 0 ] || fail "the program fails on the library's own driver"
[ -n "$(ls stock/files)" ] || fail "the program leaves no file"
for mode in ${modes//,/ }; do
  run $mode "$forebay" run --mode $mode --stats "$work/$mode/stats.json" "$@" ||
    fail "the program fails under Forebay, $mode"
  grep -A1 "\"driver\": \"$library\"" $mode/stats.json | grep -q '"active": true' || fail "no report: the driver was not active, $mode"
  cmp stock/out $mode/out >&2 || fail "the program prints something else, $mode"
  [ ! -s $mode/err ] || fail "something was said though all is well, $mode"
  [ "$(ls stock/files)" = "$(ls $mode/files)" ] || fail "other files, $mode"
  for f in stock/files/*; do
    grep -q "${f##*/}\"" $mode/stats.json || fail "the driver was not active for ${f##*/}, $mode"
    cmp "$f" "$mode/files/${f##*/}" >&2 || fail "${f##*/} differs, $mode"
  done
done
cd .. && rm -rf "$work"
