#!/bin/bash
# FOREBAY_CONFIG: rank 0's rules hold for the files that match, and a mistake in it fails the open on all ranks.
# usage: config_test.sh MPIEXEC PROGRAM, which makes the file that is its first argument
set -euo pipefail
mpiexec=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >rules.toml <<'END'
[[file]]
match = "*.dat"
stripe_bytes = "64k"
[[file]]
match = "strict.*"
mode = "strict"
END
export FOREBAY_CONFIG=$PWD/rules.toml
settings() { python3 -c 'import json
for f in json.load(open("report.json"))["files"]: print(f["settings"])'; }
for file in strict.dat other.dat other.bin; do
  rm -f report.json
  FOREBAY_STATS=report.json "$mpiexec" -n 2 "$program" "$file" 4096 16
  echo "$file $(settings)"
done >told
cat told
{ grep -q '^strict.dat .*mode=strict' told && ! grep -v '^strict' told | grep strict &&
  [ "$(grep -c stripe_bytes=64k told)" = 2 ] && ! grep -q '^other.bin .*stripe_bytes' told; } ||
  { echo "FAIL other settings than the rules say" && exit 1; }
echo 'match = 3' >>rules.toml
if "$mpiexec" -n 2 "$program" wrong.dat 4096 16 2>wrong.err; then echo "FAIL a wrong rule is taken" && exit 1; fi
[ ! -s wrong.dat ] || { echo "FAIL the file is made all the same" && exit 1; }
