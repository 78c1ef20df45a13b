#!/bin/bash
# Builds the Debian packages in a copy of the private root, looks at what they hold, installs them in a root that has
# nothing else, runs their own tests there and removes them again. Needs root, mmdebstrap and a mirror; exits with 77
# where that cannot be.
# usage: deb_test.sh SOURCES PRIVATE_ROOT CCACHE_FOLDER WORK
set -euo pipefail
if [ -z "${FOREBAY_DEB_OWN_MOUNTS:-}" ]; then # nothing that is mounted or started here outlives it
  FOREBAY_DEB_OWN_MOUNTS=1 exec unshare --mount --pid --fork --kill-child --propagation private bash "$0" "$@"
fi
sources=$(readlink -f "$1") root=$(readlink -f "$2") ccache=$(readlink -f "$3") work=$4
step() { printf '[%4ds] %s\n' "$SECONDS" "$*" >&2; }
skip() { echo "SKIP $*" && exit 77; }
fail() { echo "FAIL $*" && exit 1; }
# tail_of FILE: its last lines, without the compiler's commands.
tail_of() { grep -v '^\[[0-9]*/' "$1" | tail -n 30 | cut -c1-200; }
command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap"
rm -rf --one-file-system "$work"
mkdir -p "$work/debs" "$work/space"
work=$(readlink -f "$work") space=$(readlink -f "$work/space")

# in_root DIR COMMAND...
in_root() {
  local dir=$1
  shift
  chroot "$dir" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} "$@"
}
furnish() {
  mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc"
  cp /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null || true
}

mount -t tmpfs -o size=6g tmpfs "$space"
mkdir "$space"/{upper,overlay,build}
mount -t overlay overlay -o "lowerdir=$root,upperdir=$space/upper,workdir=$space/overlay" "$space/build" ||
  skip "no overlay can be mounted here"
furnish "$space/build"
in_root "$space/build" sh -c 'command -v dpkg-buildpackage && command -v dh' >/dev/null || skip "this root has nothing that builds packages"

step "building the packages"
mkdir -p "$space/build/ccache" "$space/build/build/forebay"
mount --bind "$ccache" "$space/build/ccache"
git -C "$sources" ls-files -z | tar -C "$sources" --null -T - -c --ignore-failed-read | tar -C "$space/build/build/forebay" -x
# shellcheck disable=SC2016 # for the shell inside
in_root "$space/build" CCACHE_DIR=/ccache DEB_BUILD_OPTIONS="noautodbgsym parallel=${JOBS:-$(nproc)}" \
  sh -c 'cd /build/forebay && dpkg-buildpackage -b -uc -us' >"$work/build.log" 2>&1 ||
  { tail_of "$work/build.log" && fail "the packages do not build; the whole output: $work/build.log"; }
cp "$space"/build/build/*.deb "$work/debs"

step "looking at what they hold"
list=$sources/tests/install/packages.list
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$sources/debian/changelog")
for package in forebay libforebay0.1 libforebay-dev; do
  tree=$space/unpacked/$package
  mkdir -p "$tree"
  dpkg-deb --extract "$work/debs/${package}_${version}"_*.deb "$tree" || fail "there is no package $package"
  mapfile -t rules < <(awk -v package="$package" '$1 == package { print $2 }' "$list")
  mapfile -t files < <(cd "$tree" && find . ! -type d -printf '/%P\n')
  declare -A matched=()
  for file in "${files[@]}"; do
    found=''
    for rule in "${rules[@]}"; do
      # shellcheck disable=SC2053 # a pattern
      [[ $file != $rule ]] || found=yes matched[$rule]=yes
    done
    [ -n "$found" ] || fail "$package holds $file; where that is right, add a line to $list"
  done
  for rule in "${rules[@]}"; do [ -n "${matched[$rule]:-}" ] || fail "$package holds no $rule"; done
  for file in "${files[@]}"; do
    [ ! -L "$tree$file" ] || continue
    sections=$(readelf -SW "$tree$file" 2>/dev/null || true)
    [ -n "$sections" ] || continue
    case $file in *.a) ! grep -q '\.debug_info' <<<"$sections" ;; *) ! grep -q '\.symtab' <<<"$sections" ;; esac ||
      fail "$file of $package is not stripped"
    ! readelf -dW "$tree$file" | grep -E 'R(UN)?PATH' || fail "$file of $package searches folders of its own"
    case $file in /usr/lib/*/libforebay*.so.*)
      readelf -dW "$tree$file" | grep -q "SONAME.*\[$(basename "${file%.*}")\]" || fail "$file of $package has another SONAME" ;;
    esac
  done
done

step "making a root that has nothing else"
suite=$(sed -n 's/^VERSION_CODENAME=//p' "$root/etc/os-release")
mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' \
  "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*.list 2>/dev/null || true)
clean=$space/clean
mmdebstrap --mode=root --variant=apt --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/locale/*' \
  --aptopt='Acquire::Check-Valid-Until "false"' --skip=cleanup/apt "$suite" "$clean" ${mirror:+"$mirror"} >"$work/clean.log" 2>&1 ||
  { tail_of "$work/clean.log" && skip "no clean root can be made"; }
furnish "$clean"
mkdir "$clean/debs" && cp "$work"/debs/*.deb "$clean/debs"
cp -r "$sources/debian/tests" "$clean/forebay-tests"
in_clean() {
  in_root "$clean" apt-get -y -q --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@" >>"$work/clean.log" 2>&1 ||
    { tail_of "$work/clean.log" && fail "apt-get $*; the whole output: $work/clean.log"; }
}
test_in_clean() {
  step "debian/tests/$1"
  in_root "$clean" "/forebay-tests/$1" >"$work/$1.log" 2>&1 || { cat "$work/$1.log" && fail "debian/tests/$1"; }
}
debs() { for name; do (cd "$clean" && compgen -G "debs/${name}_${version}_*.deb" | sed 's,^,/,'); done; }
step "installing the command and the libraries"
mapfile -t packages < <(debs forebay libforebay0.1)
in_clean install "${packages[@]}" openmpi-bin
test_in_clean doctor
step "installing the development files"
mapfile -t packages < <(debs libforebay-dev)
in_clean install "${packages[@]}" gcc libc6-dev pkgconf
test_in_clean example
step "removing them"
in_clean purge forebay libforebay0.1 libforebay-dev
left=$(find "$clean" -xdev \( -path "$clean/debs" -o -path "$clean/forebay-tests" -o -path "$clean/var/log" \) -prune -o -iname '*forebay*' -print | head -5)
[ -z "$left" ] || fail "left after purge: $left"
step "ok: $(cd "$work/debs" && echo *.deb)"
