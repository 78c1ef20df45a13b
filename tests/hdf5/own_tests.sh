#!/usr/bin/env bash
# HDF5's own parallel tests on its MPI-IO driver and on Forebay's: exit status, and what they say of each test, must be the same.
#   ./dev test-hdf5 [OPTION…] [PROGRAM…]
#     --ranks '4 6'            numbers of ranks
#     --mode 'strict commit'   modes of Forebay
#     --source DIR             HDF5's sources, of the installed version; without it Debian's are fetched
#     --work DIR               where programs are built and run (build/hdf5-own)
# Without a PROGRAM: all that are run by HDF5's own `make check` on several ranks, but for those of other drivers; `quick` stands for
# those that end soon. A folder stays for what differs; WORK/results has a line a run. Exit status 1: something differs;
# 3: the sources cannot be fetched.
set -u
top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
forebay=${FOREBAY_COMMAND:-$top/build/${FOREBAY_BUILD_PREFIX:-}release/tools/forebay}

say() { printf 'test-hdf5: %s\n' "$*" >&2; }
die() { say "$@" && exit 2; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; }

all=(testphdf5 t_pmulti_dset t_select_io_dset t_filters_parallel t_vfd t_pread t_pshutdown+t_prestart t_pflush1+t_pflush2
  t_init_term t_shapesame t_mpi t_cache t_bigio)
quick=(testphdf5 t_select_io_dset t_vfd t_pread t_pshutdown+t_prestart t_pflush1+t_pflush2 t_init_term t_shapesame t_mpi)
ranks='4 6' modes='strict commit' source='' work=$top/build/hdf5-own programs=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit ;;
    --ranks | --mode | --source | --work)
      [ $# -ge 2 ] || die "$1 needs a value"
      case $1 in
        --ranks) ranks=$2 ;;
        --mode) modes=$2 ;;
        --source) source=$(readlink -f "$2") ;;
        --work) work=$2 ;;
      esac
      shift 2 ;;
    -*) die "no option $1 (--help lists them)" ;;
    quick) programs+=("${quick[@]}") && shift ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || die "no program '$1'; there are quick ${all[*]}"
      programs+=("$1") && shift ;;
  esac
done
[ ${#programs[@]} -gt 0 ] || programs=("${all[@]}")
for mode in $modes; do
  case $mode in strict | commit) ;; *) die "no mode '$mode'; there are strict and commit" ;; esac
done
[ -x "$forebay" ] || die "no $forebay"
mkdir -p "$work" && work=$(readlink -f "$work")

# ---- sources and flags

version_in() { sed -n 's/^#define H5_VERS_INFO *"HDF5 library version: \(.*\)"/\1/p' "$1"; }
read -ra cflags < <(pkg-config --cflags hdf5-openmpi 2>/dev/null || pkg-config --cflags hdf5)
read -ra libs < <(pkg-config --libs hdf5-openmpi 2>/dev/null || pkg-config --libs hdf5)
header=$(echo '#include <H5public.h>' | mpicc "${cflags[@]}" -M -xc - | tr ' ' '\n' | grep -m 1 'H5public.h$')
installed=$(version_in "$header")
[ -n "$installed" ] || die "HDF5's headers are not found"

# Debian's source package, by apt, from where this system's packages come; nothing of its own lists is touched.
fetch() {
  local uri='' suite='' apt VERSION_CODENAME=''
  command -v apt-get >/dev/null || die "without apt, name HDF5's sources of version $installed: --source DIR"
  # shellcheck disable=SC1091
  . /etc/os-release
  read -r uri suite < <({
    sed -n 's/^deb *\(\[[^]]*\] *\)\?//p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
    awk -F': *' '/^URIs/ { uri = $2 } /^Suites/ { print uri, $2 }' /etc/apt/sources.list.d/*.sources
  } 2>/dev/null | grep " $VERSION_CODENAME\( \|$\)") || true
  [ -n "$uri" ] || die "apt's sources of $VERSION_CODENAME are not found: --source DIR"
  suite=$VERSION_CODENAME
  mkdir -p "$work"/apt/{lists/partial,cache/archives/partial}
  echo "deb-src $uri $suite main" >"$work/apt/sources.list"
  apt=(apt-get -qq -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache")
  say "fetching HDF5 $installed's sources"
  (cd "$work" && "${apt[@]}" update && "${apt[@]}" source --download-only hdf5) >"$work/apt/log" 2>&1 ||
    { tail -n 5 "$work/apt/log" >&2 && say "Debian's sources of HDF5 cannot be had: --source DIR" && exit 3; }
  mkdir -p "$work/source"
  tar -xf "$work"/hdf5_*.orig.tar.* -C "$work/source" --strip-components 1 || die "cannot unpack the sources"
  rm -rf "$work/apt/lists"
}

if [ -z "$source" ]; then
  source=$work/source
  [ -e "$source/testpar/testphdf5.c" ] || fetch
fi
[ -e "$source/testpar/testphdf5.c" ] || die "no HDF5 sources in $source"
theirs=$(version_in "$source/src/H5public.h")
[ "$theirs" = "$installed" ] || die "the sources are of HDF5 $theirs, installed is $installed"

# ---- build

cflags=(-w -O1 -DNDEBUG -DH5_HAVE_TEST_API "${cflags[@]}" -I"$work" -I"$source/src" -I"$source/src/H5FDsubfiling" -I"$source/test" -I"$source/testpar")
echo "const char *config_srcdir = \"$source/test\";" >"$work/H5srcdir_str.h"

of_testphdf5=(t_dset t_file t_file_image t_mdset t_ph5basic t_coll_chunk t_span_tree t_chunk_alloc t_filter_read t_prop t_coll_md t_oflush)

build() { # PROGRAM
  local target=$work/bin/$1 files=("$source/testpar/$1.c") f
  [ ! -x "$target" ] || return 0
  files+=("$source/test/h5test.c" "$source/test/testframe.c")
  case $1 in
    testphdf5) for f in "${of_testphdf5[@]}"; do files+=("$source/testpar/$f.c"); done ;;
  esac
  for f in "${!files[@]}"; do [ -e "${files[f]}" ] || unset "files[f]"; done
  mpicc "${cflags[@]}" -o "$target" "${files[@]}" "${libs[@]}" -lm -ldl -lz >"$target.log" 2>&1 ||
    { tail -n 5 "$target.log" >&2 && die "$1 cannot be built ($target.log)"; }
}
mkdir -p "$work/bin"
say "building"
for program in "${programs[@]}"; do
  for step in ${program//+/ }; do build "$step" || exit 2; done
done

# ---- run

# What each test says of itself, without what differs from run to run.
verdicts='PASSED|FAILED|SKIP|[Tt]est(ing|s)|rror|ssert|[Aa]bort|finished|complete'

run_one() { # PROGRAM RANKS MODE DIR
  local program=$1 n=$2 mode=$3 dir=$4 under=() step status
  rm -rf "$dir" && mkdir -p "$dir/files"
  [ "$mode" = stock ] || under=("$forebay" run --mode "$mode" --stats "$dir/stats")
  for step in ${program//+/ }; do
    for _ in 1 2; do
      status=0
      (cd "$dir/files" && timeout -k 10 "${FOREBAY_OWN_TESTS_TIMEOUT:-900}" mpirun -n "$n" "${under[@]}" "$work/bin/$step" >"$dir/raw.$step" 2>&1 </dev/null) || status=$?
      # Open MPI's launcher ends so when it could not start the program, with no word of the program's.
      if [ $status -ne 213 ] || grep -qaE "$verdicts" "$dir/raw.$step"; then break; fi
      say "mpirun did not start $step ($mode): $(tail -n 3 "$dir/raw.$step" | xargs -0)"
    done
    cat "$dir/raw.$step" >>"$dir/raw"
    echo $status >>"$dir/status"
  done
  grep -aE "$verdicts" "$dir/raw" | grep -av '^forebay' |
    sed -E 's/[0-9]+\.[0-9]+/N/g; s/0x[0-9a-f]+/P/g; s/\[[^]]*:[0-9]+\]/[host]/g; s/pid [0-9]+/pid/g; s/(Process name|PID|prterun|prte)[^ ]* .*//; s/ +/ /g' |
    sort >"$dir/verdicts"
}

failed=0
: >"$work/results"
for program in "${programs[@]}"; do
  for n in $ranks; do
    stock=$work/runs/$program.$n.stock
    begin=$SECONDS
    run_one "$program" "$n" stock "$stock"
    line="$program on $n ranks: stock $(xargs <"$stock/status"), $(grep -c PASSED "$stock/verdicts") passed, $((SECONDS - begin)) s"
    differs=
    for mode in $modes; do
      ours=$work/runs/$program.$n.$mode said='' begin=$SECONDS
      run_one "$program" "$n" "$mode" "$ours"
      cmp -s "$stock/status" "$ours/status" || said+=" status $(xargs <"$ours/status")"
      cmp -s "$stock/verdicts" "$ours/verdicts" || said+=" verdicts (diff $stock/verdicts $ours/verdicts)"
      case $program in t_mpi | t_cache | t_init_term) ;; *) grep -qs '"active": true' "$ours/stats" || said+=" the driver was not active" ;; esac
      [ -z "$said" ] || differs=1
      line+="; $mode ${said:-the same}, $((SECONDS - begin)) s"
    done
    echo "$line" | tee -a "$work/results"
    [ -z "$differs" ] || for mode in $modes; do
      ours=$work/runs/$program.$n.$mode
      diff "$stock/verdicts" "$ours/verdicts" || tail -n 20 "$ours/raw"
    done | head -n 60 >&2
    [ -z "$differs" ] && rm -rf "$work/runs/$program.$n".* || failed=1
  done
done
exit $failed
