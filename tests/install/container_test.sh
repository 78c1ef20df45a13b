#!/bin/bash
# Builds the image of packaging/Containerfile and uses it: forebay doctor, and the packages' example. The base image is
# made here, of Debian's packages, so that no registry of images is needed. Needs root, buildah and mmdebstrap; exits
# with 77 where that cannot be.
# usage: container_test.sh SOURCES WORK     WORK: an absolute folder, on a file system with 6 GB of room
set -euo pipefail
sources=$(readlink -f "$1") work=$2
step() { printf '[%4ds] %s\n' "$SECONDS" "$*" >&2; }
skip() { echo "SKIP $*" && exit 77; }
[ "$(id -u)" = 0 ] || skip "root is needed"
for tool in buildah mmdebstrap; do command -v $tool >/dev/null || skip "there is no $tool"; done
mkdir -p "$work"/{context,run}
# Without settings of this machine's, and beside its images.
export BUILDAH_ISOLATION=chroot
image() { buildah --root "$work/images" --runroot "$work/run" "$@"; }
trap 'image rm --all >/dev/null 2>&1; image rmi --all --force >/dev/null 2>&1; rm -rf --one-file-system "$work"' EXIT

step "making the base image"
mmdebstrap --mode=root --variant=minbase --dpkgopt=force-unsafe-io --aptopt='Acquire::Check-Valid-Until "false"' trixie "$work/base.tar" \
  >"$work.log" 2>&1 || { tail -5 "$work.log" && skip "Debian's packages cannot be had"; }
{ container=$(image from scratch) && image add "$container" "$work/base.tar" && image commit --rm "$container" localhost/debian:trixie-slim; } \
  >"$work.log" 2>&1 || { tail -5 "$work.log" && skip "no image can be made here"; }
rm "$work/base.tar"

step "building packaging/Containerfile"
git -C "$sources" ls-files -z | tar -C "$sources" --null -T - -c --ignore-failed-read | tar -C "$work/context" -x
image bud --pull=false --layers=false -t forebay -f packaging/Containerfile "$work/context" >"$work.log" 2>&1 ||
  { grep -E '^(STEP|Error|error|E: )|FAILED|CMake Error' -A5 "$work.log" | tail -30; echo "FAIL it does not build; the whole output: $work.log"; exit 1; }

step "using it"
container=$(image from --pull=false forebay)
image run "$container" -- forebay doctor >"$work.log" 2>&1 || { cat "$work.log"; echo "FAIL forebay doctor"; exit 1; }
image copy "$container" "$sources/debian/tests/example" /example >/dev/null
image run "$container" -- sh /example >"$work.log" 2>&1 || { cat "$work.log"; echo "FAIL debian/tests/example"; exit 1; }
step "ok"
rm -f "$work.log"
