#!/bin/bash
# forebay doctor where every program prints a banner: none of it is taken for a problem or for an answer.
# usage: doctor_banner_test.sh FOREBAY MPIEXEC
set -uo pipefail
forebay=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A library that is loaded into each program speaks on both outputs, before the program and after it.
cat >"$work/banner.c" <<'END'
#include <stdio.h>
#include <unistd.h>
static void say(const char* when) {
  char line[200];
  const int length = snprintf(line, sizeof line, "mpi of this site, %s\nlibrary by nobody\n", when);
  if (write(1, line, length) != length || write(2, line, length) != length) _exit(9);
}
__attribute__((constructor)) static void begin(void) { say("hello"); }
__attribute__((destructor)) static void end(void) { say("goodbye"); }
END
cc -shared -fPIC -o "$work/banner.so" "$work/banner.c" || exit 1
mkdir "$work/files"
LD_PRELOAD=$work/banner.so "$forebay" doctor --json "$work/files" 2>"$work/err" | grep -v '^mpi of this site\|^library by nobody' >"$work/out"
cat >"$work/check.py" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["ok"], d["verdict"]
for driver in d["drivers"]:
    assert driver["active"] and driver["file_correct"], driver
    assert driver["problem"] == "", driver["problem"]
    assert "nobody" not in driver["library"], driver["library"]
assert "site" not in d["mpi"]["library"], d["mpi"]
folder = d["folder"]
assert folder["folder"] == sys.argv[2], folder
assert folder["file_system"] and folder["storage"] in ("posix", "mpiio") and folder["stripe_bytes"] > 0, folder
for key in ("file_system_source", "coherent_source", "storage_source", "stripe_source"):
    assert folder[key], folder
END
python3 "$work/check.py" "$work/out" "$work/files" || { cat "$work/out" "$work/err" && exit 1; }
