#!/usr/bin/env bash
# Unmodified programs with the driver loaded before PnetCDF: programs_test.sh CASE MPIEXEC RANKS PLAIN_PROGRAM DRIVER [MORE]
# What a case shows is in its name; exit status 77: it cannot be tried here.
set -u
case_=$1 mpiexec=$2 ranks=$3 program=$4 driver=$5
shift 5
work=$(pwd)/$case_.$ranks
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

fail() {
  echo "$case_: $*" >&2
  for f in *.err *.out; do [ -s "$f" ] && { echo "--- $f"; head -20 "$f"; } >&2; done
  exit 1
}

# run NAME COMMAND…: stdout to NAME.out, stderr to NAME.err
run() {
  local name=$1
  shift
  "$mpiexec" -n "$ranks" "$@" >"$name.out" 2>"$name.err"
}
stock() { run "$@"; }
preloaded() {
  local name=$1
  shift
  run "$name" env LD_PRELOAD="$driver" "$@"
}
lines_of_forebay() { grep -c '^forebay: ' "$1.err"; }
same() { cmp "$1" "$2" >&2 || fail "$1 and $2 differ"; }

case $case_ in
  same_file)  # and Forebay says that it wrote it
    stock stock "$program" a.nc || fail "the program fails on PnetCDF's own driver"
    preloaded forebay env FOREBAY_STATS=stats.json "$program" b.nc || fail "the program fails with Forebay"
    same a.nc b.nc
    same stock.out forebay.out
    [ "$(lines_of_forebay forebay)" = 0 ] || fail "something was said though all is well"
    grep -q '"active": true' stats.json || fail "no report: the driver was not active"
    ;;
  linked)  # first on the link line, instead of loaded
    stock stock "$program" a.nc || fail "the program fails on PnetCDF's own driver"
    run linked env FOREBAY_STATS=stats.json "$1" b.nc || fail "the linked program fails"
    same a.nc b.nc
    grep -q '"active": true' stats.json || fail "no report: the driver was not active"
    ;;
  unknown_version)
    stock stock "$program" a.nc || fail "the program fails on PnetCDF's own driver"
    preloaded forebay env FOREBAY_STATS=stats.json FOREBAY_TEST_PNETCDF_VERSION=1.16.0 "$program" b.nc || fail "the program fails"
    same a.nc b.nc
    [ "$(lines_of_forebay forebay)" = 1 ] || fail "not exactly one line"
    grep -q '1\.16\.0' forebay.err || fail "the line does not name the version"
    [ ! -e stats.json ] || fail "the driver was active"
    ;;
  switched_off)
    stock stock "$program" a.nc || fail "the program fails on PnetCDF's own driver"
    preloaded off env FOREBAY_HINTS=forebay_enable=off FOREBAY_STATS=stats.json "$program" b.nc || fail "the program fails"
    same a.nc b.nc
    [ "$(lines_of_forebay off)" = 1 ] || fail "not exactly one line"
    ! grep -q '"active": true' stats.json || fail "the driver was active"
    grep -q 'own driver: ' stats.json || fail "the report does not say why not"
    rm stats.json
    preloaded burst env FOREBAY_STATS=stats.json "$program" c.nc nc_burst_buf enable || fail "the program fails"
    same a.nc c.nc
    [ "$(lines_of_forebay burst)" = 1 ] || fail "not exactly one line"
    grep -q nc_burst_buf burst.err || fail "the line does not say why"
    ! grep -q '"active": true' stats.json || fail "the driver was active"
    grep -q 'own driver: ' stats.json || fail "the report does not say why not"
    rm stats.json
    ;;
  bad_hint)  # nothing is touched, every rank hears of it, and it is said once
    echo precious >b.nc
    preloaded bad env FOREBAY_HINTS=forebay_strip_bytes=4m "$program" b.nc && fail "the program succeeds"
    [ "$(cat b.nc)" = precious ] || fail "the file was touched"
    [ "$(grep -c 'create=NC_EINVAL' bad.out)" = "$ranks" ] || fail "not NC_EINVAL on every rank"
    [ "$(lines_of_forebay bad)" = 1 ] || fail "not exactly one line"
    grep -q forebay_stripe_bytes bad.err || fail "the near name is not given"
    preloaded info "$program" c.nc forebay_stripe_bytes none || fail "a bad hint in MPI_Info is not advice"
    grep -q forebay_stripe_bytes info.err || fail "nothing is said of the bad hint in MPI_Info"
    ;;
  bad_place)  # the same codes as PnetCDF's own driver
    mkdir read_only
    chmod 555 read_only
    for path in missing/a.nc read_only/a.nc; do
      stock stock "$program" "$path"
      a=$?
      rm -f read_only/a.nc
      preloaded forebay "$program" "$path"
      [ $? = $a ] || fail "another exit status for $path"
      same stock.out forebay.out
      rm -f read_only/a.nc
    done
    ;;
  full_disk)
    mkdir disk
    mount -t tmpfs -o size=200k tmpfs disk 2>/dev/null || { echo "no right to mount file systems" && exit 77; }
    trap 'umount disk' EXIT
    preloaded full "$program" disk/a.nc && fail "the program succeeds"
    [ "$(grep -c 'wait=NC_ENO_SPACE\|wait=NC_EWRITE\|put=NC_ENO_SPACE\|put=NC_EWRITE' full.out)" = "$ranks" ] || fail "not an error on every rank"
    grep -q 'NC_ENO_SPACE' full.out || fail "no rank says that the disk is full"
    grep -qi 'space' full.err || fail "nothing is said of the full disk"
    umount disk
    trap - EXIT
    ;;
  no_shared_memory)
    # a /dev/shm too small for the windows, in a mount namespace of our own
    unshare -m true 2>/dev/null || { echo "no right to make namespaces" && exit 77; }
    stock stock "$program" a.nc || fail "the program fails on PnetCDF's own driver"
    unshare -m bash -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"' - \
      "$mpiexec" -n "$ranks" env LD_PRELOAD="$driver" OMPI_MCA_btl_sm_backing_directory="$work" FOREBAY_STATS=stats.json \
      "$program" b.nc >small.out 2>small.err || fail "the program fails"
    same a.nc b.nc
    [ "$(lines_of_forebay small)" = 1 ] || fail "not exactly one line"
    grep -q 'exchange messages.*/dev/shm' small.err || fail "the line does not say what happens and why"
    [ -e stats.json ] || fail "the driver was not active"
    ;;
  *) fail "no such case" ;;
esac
cd .. && rm -rf "$work"
