#!/bin/bash
# Builds the Debian packages in a copy of the private root, installs them in a root that has nothing else, and runs
# their own tests there. Needs root, mmdebstrap and what apt uses; exits with 77 where that cannot be.
# usage: deb_test.sh SOURCES PRIVATE_ROOT WORK
set -euo pipefail
sources=$(readlink -f "$1") root=$(readlink -f "$2") work=$3
skip() { echo "SKIP $*" && exit 77; }
[ "$(id -u)" = 0 ] || skip "root is needed"
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap"
if [ -z "${FOREBAY_DEB_OWN_MOUNTS:-}" ]; then # nothing that is mounted here outlives it
  FOREBAY_DEB_OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$0" "$@"
fi
rm -rf --one-file-system "$work"
mkdir -p "$work"
work=$(readlink -f "$work")
step() { printf '[%4ds] %s\n' "$SECONDS" "$*" >&2; }

# in_root DIR COMMAND...
in_root() {
  local dir=$1
  shift
  chroot "$dir" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    DEB_BUILD_OPTIONS="parallel=$(nproc)" "$@"
}
furnish() {
  mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc"
  cp /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null || true
}
apt_in() {
  local dir=$1
  shift
  in_root "$dir" apt-get -y -q --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@"
}

step "a copy of the private root, with what builds packages"
mkdir -p "$work"/{upper,overlay,build}
mount -t tmpfs -o size=6g tmpfs "$work/upper"
mkdir "$work"/upper/{data,work}
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper/data,workdir=$work/upper/work" "$work/build" ||
  skip "no overlay can be mounted here"
furnish "$work/build"
{ apt_in "$work/build" update && apt_in "$work/build" install build-essential debhelper dpkg-dev fakeroot; } >"$work/apt.log" 2>&1 ||
  { tail -5 "$work/apt.log"; skip "what builds packages cannot be installed"; }

step "building the packages"
mkdir -p "$work/build/build/forebay"
git -C "$sources" ls-files -z | tar -C "$sources" --null -T - -c --ignore-failed-read | tar -C "$work/build/build/forebay" -x
in_root "$work/build" sh -c 'cd /build/forebay && dpkg-buildpackage -b -uc -us' >"$work/build.log" 2>&1 ||
  { tail -30 "$work/build.log"; echo "FAIL the packages do not build"; exit 1; }
mkdir "$work/debs"
cp "$work"/build/build/*.deb "$work/debs"
ls "$work/debs"

step "installing them in a root that has nothing else"
suite=$(sed -n 's/^VERSION_CODENAME=//p' "$root/etc/os-release")
mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' \
  "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*.list 2>/dev/null || true)
mount -t tmpfs -o size=4g tmpfs "$work/overlay"
mmdebstrap --mode=root --variant=apt --dpkgopt=force-unsafe-io --aptopt='Acquire::Check-Valid-Until "false"' \
  "$suite" "$work/overlay/clean" ${mirror:+"$mirror"} >"$work/clean.log" 2>&1 || { tail -5 "$work/clean.log"; skip "no clean root can be made"; }
clean=$work/overlay/clean
furnish "$clean"
mkdir "$clean/debs" && cp "$work"/debs/*.deb "$clean/debs"
cp -r "$sources/debian/tests" "$clean/forebay-tests"
apt_in "$clean" update >"$work/clean.log" 2>&1
in_clean() { apt_in "$clean" install "$@" >>"$work/clean.log" 2>&1 || { tail -15 "$work/clean.log"; echo "FAIL $* cannot be installed"; exit 1; }; }
in_clean $(cd "$clean" && ls debs/forebay_*.deb debs/libforebay0*.deb | sed 's,^,/,') openmpi-bin
step "debian/tests/doctor"
in_root "$clean" /forebay-tests/doctor
in_clean $(cd "$clean" && ls debs/libforebay-dev_*.deb | sed 's,^,/,') gcc libc6-dev pkgconf
step "debian/tests/example"
in_root "$clean" /forebay-tests/example
step "the packages leave nothing"
apt_in "$clean" purge forebay libforebay0.1 libforebay-dev >>"$work/clean.log" 2>&1
left=$(find "$clean/usr" "$clean/etc" -name '*forebay*' | head -5)
[ -z "$left" ] || { echo "FAIL left after purge: $left" && exit 1; }
step "ok"
