#!/bin/bash
# A program that closes its file in the background: what is said of that, and what the report holds.
# log_report_test.sh FOREBAY PROBE MPIEXEC...
set -eu
forebay=$1 probe=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$forebay" run --verbose --stats report.json \
  --hints "forebay_log=$folder;forebay_log_bytes=1m;forebay_close=background" \
  "$@" -n 2 "$probe" write out.nc 2>errors || { cat errors; exit 1; }
"$forebay" report report.json >report.txt
for wanted in 'errors:out.nc was complete [0-9.]* s after its close' 'report.txt:^  log  .* append' \
  'report.txt:brought into the file by ranks, the rest by the keeper process' \
  'report.txt:left to it at a close' 'report.txt:complete [0-9.]* s after the close'; do
  grep -q "${wanted#*:}" "${wanted%%:*}" || { echo "not in ${wanted%%:*}: ${wanted#*:}"; cat errors report.txt; exit 1; }
done
"$forebay" wait out.nc
"$forebay" doctor out.nc
"$probe" check out.nc
[ -z "$(find . -name '*forebay*')" ] || { ls -A; exit 1; }
