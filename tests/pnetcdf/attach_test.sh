#!/usr/bin/env bash
# Programs with the driver inside, by --wrap or by a drop-in: attach_test.sh CASE MPIEXEC RANKS PROGRAMS FOREBAY LIBRARY
# PROGRAMS holds pnetcdf_plain_alone (shared), _static and _wrapped; LIBRARY is the shared PnetCDF.
set -u
case_=$1 mpiexec=$2 ranks=$3 programs=$4 forebay=$5 library=$6
work=$(pwd)/attach.$case_.$ranks
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
# Nothing of this machine's user, and nothing left behind.
export XDG_DATA_HOME=$work/data
unset FOREBAY_DROPIN FOREBAY_HINTS FOREBAY_STATS

fail() {
  echo "$case_: $*" >&2
  for f in *.err *.out; do [ -s "$f" ] && { echo "--- $f"; head -20 "$f"; } >&2; done
  exit 1
}
run() { # run NAME COMMAND…
  "$mpiexec" -n "$ranks" "${@:2}" >"$1.raw" 2>"$1.err" || return
  sort "$1.raw" >"$1.out"
}
lines_of_forebay() { grep -c '^forebay: ' "$1.err"; }
same() { cmp "$1" "$2" >&2 || fail "$1 and $2 differ"; }
active() { grep -q '"active": true' "$1" 2>/dev/null; }
dropin() { "$forebay" dropin --library "$library" "$@" >dropin.out 2>dropin.err; }

case $case_ in
  wrapped) # by itself, and under forebay run, which must not take it for a stock program
    run stock "$programs/pnetcdf_plain_static" a.nc || fail "the stock program fails"
    FOREBAY_STATS=$work/stock.json run unwrapped "$programs/pnetcdf_plain_static" a.nc
    active stock.json && fail "the program without the driver reports"
    run forebay env FOREBAY_STATS="$work/s.json" "$programs/pnetcdf_plain_wrapped" b.nc || fail "the program fails"
    active s.json || fail "no report: the driver was not active"
    same a.nc b.nc
    same stock.out forebay.out
    run under "$forebay" run --stats "$work/r.json" "$programs/pnetcdf_plain_wrapped" c.nc || fail "it fails under forebay run"
    active r.json || fail "no report under forebay run"
    same a.nc c.nc
    [ "$(lines_of_forebay forebay)$(lines_of_forebay under)" = 00 ] || fail "something was said though all is well"
    ;;
  wrapped_unknown_version | wrapped_switched_off)
    run stock "$programs/pnetcdf_plain_static" a.nc || fail "the stock program fails"
    setting=FOREBAY_ENABLE=off
    [ "$case_" = wrapped_switched_off ] || setting=FOREBAY_TEST_PNETCDF_VERSION=1.15.0-beta
    run forebay env "$setting" FOREBAY_STATS="$work/s.json" "$programs/pnetcdf_plain_wrapped" b.nc || fail "the program fails"
    same a.nc b.nc
    [ "$(lines_of_forebay forebay)" = 1 ] || fail "not exactly one line"
    active s.json && fail "the driver was active"
    ;;
  dropin)
    run stock "$programs/pnetcdf_plain_alone" a.nc || fail "the stock program fails"
    dropin --output "$work/here" || fail "no drop-in is made"
    made=$(head -n 1 dropin.out)
    [ -s "$made" ] || fail "it says that $made was made"
    [ "$(find here -mindepth 1 | wc -l)" = 1 ] || fail "something is left behind"
    # Exactly what the site's exports, but for what the C++ library has its users instantiate, and the mark.
    names() { nm -D --defined-only --format=posix "$1" | cut -d' ' -f1 | grep -v '^_ZNK\?St' | sort -u; }
    names "$library" >site.names
    names "$made" >made.names
    [ "$(comm -3 site.names made.names | tr -d '\t')" = forebay_pnetcdf_inside ] || fail "other symbols: $(comm -3 site.names made.names | head -3)"
    # alone, and as forebay run takes it
    run alone env LD_LIBRARY_PATH="$work/here" FOREBAY_STATS="$work/s.json" "$programs/pnetcdf_plain_alone" b.nc || fail "it fails"
    active s.json || fail "no report: the driver was not active"
    same a.nc b.nc
    export FOREBAY_DROPIN=$work/here
    run under "$forebay" run --stats "$work/r.json" "$programs/pnetcdf_plain_alone" c.nc || fail "it fails under forebay run"
    active r.json || fail "no report under forebay run"
    same a.nc c.nc
    [ "$(lines_of_forebay alone)$(lines_of_forebay under)" = 00 ] || fail "something was said though all is well"
    run script "$forebay" run --stats "$work/t.json" bash -c '"$0" d.nc' "$programs/pnetcdf_plain_alone" || fail "it fails in a script"
    active t.json || fail "no report from a script"
    same a.nc d.nc
    # off is off, also in there
    run off env FOREBAY_ENABLE=off "$forebay" run --stats "$work/o.json" "$programs/pnetcdf_plain_alone" e.nc || fail "it fails"
    active o.json && fail "the driver was active though it is off"
    same a.nc e.nc
    [ "$(lines_of_forebay off)" -ge 1 ] || fail "nothing says that it is off"
    ;;
  dropin_refusals) # each says what to do, and leaves nothing
    refused() { # refused WORDS COMMAND...
      "${@:2}" && fail "made in spite of: $1"
      grep -qi -- "$1" dropin.err || fail "it does not say: $1"
    }
    refused 'no archive' dropin --archive "$work/none/libpnetcdf.a" --output here
    refused 'no C++ compiler' dropin --compiler no-such-compiler --output here
    refused '/false could not link the library: it ended with status 1 and printed nothing' dropin --compiler false --output here
    refused '^The command was: .*/false -shared' dropin --compiler false --output here
    refused '/true made no library' dropin --compiler true --output here
    refused 'shared PnetCDF' "$forebay" dropin --library "$work/none.so" 2>dropin.err
    echo 'int f(void); extern int g; int f(void) { return g; }' >f.c
    cc -fno-pic -c f.c && ar qc libnopic.a f.o
    refused 'position-independent' dropin --archive "$work/libnopic.a" --output here
    echo 'int f(void) { return 1; }' >f.c
    cc -fPIC -c f.c && rm -f libother.a && ar qc libother.a f.o
    refused 'archive of the same build\|could not link' dropin --archive "$work/libother.a" --output here
    FOREBAY_TEST_PNETCDF_VERSION=1.16.0 refused 'is not known to this driver' dropin --output here
    echo file >occupied
    refused 'cannot make' dropin --output "$work/occupied/here"
    [ "$(find here -mindepth 1 2>/dev/null | wc -l)" = 0 ] || fail "something is left behind"
    ;;
  *) fail "no such case" ;;
esac
cd .. && rm -rf "$work"
