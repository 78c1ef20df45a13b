#!/bin/bash
# What forebay-throttle holds, and what it does not: throttle_test.sh THROTTLE
set -uo pipefail
throttle=$1
work=$(mktemp -d "$PWD/throttle-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/slow" "$work/fast"
failures=0
check() { # check WHAT LEAST_MS MOST_MS TOOK_MS
  if [ "$4" -ge "$2" ] && [ "$4" -le "$3" ]; then echo "ok   $1: $4 ms"; else
    echo "FAIL $1: $4 ms, not $2 to $3" && failures=$((failures + 1))
  fi
}
took() { # took COMMAND...: milliseconds; its status in $status
  local begin
  begin=$(date +%s%N) && "$@"
  status=$?
  ms=$((($(date +%s%N) - begin) / 1000000))
}
held() { "$throttle" --folder "$work/slow" --rate 10 -- "$@"; }
export work

took held true
if [ $status = 125 ]; then echo "writes cannot be held on this machine" && exit 77; fi

# 10 MB at 10 MB/s, whoever writes them: two processes, one without an environment.
took held sh -c 'env -i dd if=/dev/zero of="$work/slow/a" bs=64k count=76 2>/dev/null &
  dd if=/dev/zero of="$work/slow/b" bs=64k count=76 2>/dev/null; wait'
check 'two writers' 980 20000 "$ms"

# Left behind by its parent, as the keeper process; the end of the command is the last one's.
took held sh -c 'setsid -f env -i dd if=/dev/zero of="$work/slow/c" bs=64k count=76 2>/dev/null; exit 7'
check 'a process left behind' 490 20000 "$ms"
if [ $status != 7 ]; then echo "FAIL status $status instead of 7" && failures=$((failures + 1)); fi

# Through another name of the folder, and to a file whose name is gone.
ln -s slow "$work/alias"
took held sh -c 'exec 3>"$work/alias/d"; rm "$work/slow/d"; dd if=/dev/zero bs=64k count=76 2>/dev/null >&3'
check 'by another name' 490 20000 "$ms"

# A copy in the kernel.
head -c 5000000 /dev/zero >"$work/fast/e"
took held cp --sparse=never --reflink=never "$work/fast/e" "$work/slow/e"
check 'a copy' 490 20000 "$ms"

# Small pieces, of which a few are looked at: 100 bytes, and 50000 of them; and lists of pieces.
if command -v python3 >/dev/null; then
  cat >"$work/pieces.py" <<'P'
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
for i in range(50000):
    os.pwrite(file, b"x" * 100, 100 + 300 * i)
P
  took held python3 "$work/pieces.py" "$work/slow/f"
  check 'small pieces' 400 20000 "$ms" # a sample of 3000 has a scatter
  took held python3 -c 'import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.pwritev(file, [b"x" * 100000] * 50, 0)' "$work/slow/g"
  check 'a list' 490 20000 "$ms"
fi

# Other folders are not held: 100 MB would take 10 s.
took held dd if=/dev/zero of="$work/fast/h" bs=1M count=100 2>/dev/null
check 'elsewhere' 0 8000 "$ms"

took held sh -c 'kill -9 $$'
if [ $status != 137 ]; then echo "FAIL status $status instead of 137" && failures=$((failures + 1)); fi
held true >/dev/null 2>&1 <&- || failures=$((failures + 1))
"$throttle" --folder "$work/none" true 2>/dev/null
if [ $? != 2 ]; then echo 'FAIL a folder that is not there' && failures=$((failures + 1)); fi
exit $((failures > 0))
