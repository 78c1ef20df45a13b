#!/bin/bash
# What ./dev tells of the demo's and the benchmarks' options, from their sources, against the programs themselves.
# usage: help_test.sh DEV FOLDER_OF_BENCH_IN_THE_BUILD
set -uo pipefail
dev=$1 build=$2
failures=0
options() { grep -oE '^ +(-[a-z], *)?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' | grep -vx -- --help | sort -u; }
# check NAME PROGRAM COMMAND...
check() {
  local told real
  told=$(FOREBAY_STACK='' "$dev" "${@:3}" --help | options)
  real=$("$2" --help | options)
  if [ -n "$told" ] && [ "$told" = "$real" ]; then echo "ok   $1"; else
    echo "FAIL $1" && diff <(echo "$told") <(echo "$real") && true
    failures=$((failures + 1))
  fi
}
check demo "$build/demo/forebay-demo" demo
for main in "$(dirname "$dev")"/bench/*/*_main.cpp; do
  name=$(basename "$main" _main.cpp)
  case $name in writer | benchmark | driver | mpi | demo) continue ;; esac
  [ "$(basename "$(dirname "$main")")" = "$name" ] || continue
  check "$name" "$build/$name/forebay-$name" bench "$name"
done
exit $((failures > 0))
