#!/bin/bash
# Holds the interfaces of the installed libraries, as libabigail sees them, against the descriptions kept beside this
# script: exported symbols, and the types of public headers that they take. They are those of a build with Open MPI.
# usage: abi_test.sh [--update] SOURCES BUILD     exits with 77 where nothing can be compared
set -euo pipefail
update=no
[ "${1:-}" != --update ] || { update=yes && shift; }
sources=$1 build=$2 status=0
kept=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() { echo "SKIP $*" && exit 77; }
command -v abidiff >/dev/null || skip "there is no abidiff (Debian: abigail-tools)"
readelf -d "$build/src/api/libforebay.so" | grep -q 'NEEDED.*libmpi\.so\.40' || skip "the descriptions are those of Open MPI"
readelf -S "$build/src/api/libforebay.so" | grep -q '\.debug_info' || skip "the libraries are built without debug information"

# What differs between machines, compilers and folders is left out.
describe() {
  abidw --headers-dir "$sources/include/forebay" --headers-dir "$build/include/forebay" --drop-private-types --exported-interfaces-only \
    --no-load-undefined-interfaces --no-architecture --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
    --no-write-default-sizes --no-parameter-names --type-id-style hash "$1"
}

for library in src/api/libforebay src/api/fortran/libforebay_fortran vfd/libforebay_hdf5 pnc_driver/libforebay_pnetcdf; do
  name=${library##*/}
  [ -e "$build/$library.so" ] || { echo "     $name is not built" && continue; }
  describe "$build/$library.so" >"$work/$name.abi"
  if [ $update = yes ]; then
    if ! cmp -s "$work/$name.abi" "$kept/$name.abi"; then
      cp "$work/$name.abi" "$kept/$name.abi" && echo "updated $name.abi"
    fi
  elif ! abidiff --no-added-syms "$kept/$name.abi" "$work/$name.abi" >"$work/broken"; then
    cat "$work/broken"
    echo "FAIL $name: programs that were built with it before may not work with it now (see above).
     If they do (a struct that tells its size has grown), run ./dev abi --update and commit tests/abi/$name.abi.
     Otherwise raise the version in CMakeLists.txt, so that SOVERSION changes, and then do the same."
    status=1
  elif ! abidiff "$kept/$name.abi" "$work/$name.abi" >"$work/added"; then
    grep '\[A\]' "$work/added" || cat "$work/added"
    echo "ok   $name has grown: run ./dev abi --update and commit tests/abi/$name.abi"
  else
    echo "ok   $name"
  fi
done
exit $status
