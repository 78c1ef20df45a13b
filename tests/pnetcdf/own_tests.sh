#!/usr/bin/env bash
# PnetCDF's own test programs and examples on its own driver and on Forebay's: exit status, what they print, and every
# file they leave must be the same. By hand, since it needs PnetCDF's sources (those of the installed version):
#   ./dev shell -c "tests/pnetcdf/own_tests.sh SOURCE_DIR WORK_DIR [OPTION…] [PROGRAM…]"
#     --ranks '1 4'   --mode 'strict commit'   --hints PNETCDF_HINTS
# Without a PROGRAM (testcases/record, examples_C/mput): all that are made for PnetCDF's classic formats and end soon.
# Programs are built in WORK_DIR once; a run leaves WORK_DIR/results, a line each, and keeps the folders of what differs.
# Exit status 1: something differs.
set -u
top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
driver=${FOREBAY_DRIVER:-$top/build/${FOREBAY_BUILD_PREFIX:-}release/pnc_driver/libforebay_pnetcdf.so}

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
[ $# -ge 2 ] || usage
source=$(readlink -f "$1") work=$(mkdir -p "$2" && readlink -f "$2")
shift 2
ranks='1 4' modes='strict commit' hints='' only=()
while [ $# -gt 0 ]; do
  case $1 in
    --ranks) ranks=$2 && shift 2 ;;
    --mode) modes=$2 && shift 2 ;;
    --hints) hints=$2 && shift 2 ;;
    -*) usage ;;
    *) only+=("$1") && shift ;;
  esac
done
[ -e "$source/test/common/testutils.c" ] || { echo "no PnetCDF sources in $source" >&2 && exit 2; }
[ -e "$driver" ] || { echo "no driver: $driver" >&2 && exit 2; }

# ---- build: a program a file, but for the three large ones

export source work
cflags=(-O1 -w -DHAVE_DECL_MPI_OFFSET -I"$source/test/common" -I"$source/src/include" -include nctypes.h)
fflags=(-O1 -w -fallow-argument-mismatch -fallow-invalid-boz -DHAVE_DECL_MPI_OFFSET -DHAS_GET_ENVIRONMENT_VARIABLE
  -I"$source/test/common")
# Debian keeps the Fortran modules in a place of their own, and the paths in its pkg-config file are those of its build machine.
while read -r file; do
  fflags+=(-I"${file%/*}")
done < <(find /usr/include /usr/lib /usr/local -name pnetcdf.mod -o -name pnetcdf.inc 2>/dev/null)
# Arrays do not get to the shells that build side by side.
export CFLAGS_="${cflags[*]}" FFLAGS_="${fflags[*]}"

# c_of FILE: the C file, made first where it is m4
c_of() {
  local made
  case $1 in
    *.m4)
      made=$work/generated/$(basename "${1%.m4}").c
      [ "$made" -nt "$1" ] || m4 -DPNETCDF -DERANGE_FILL -I"$source/m4" "$1" >"$made" || return 1
      echo "$made" ;;
    *) echo "$1" ;;
  esac
}

folder_name() { # test/C: C; examples/C: examples_C
  case $1 in */examples/*) echo "examples_${1##*/}" ;; *) echo "${1##*/}" ;; esac
}

build_one() { # FOLDER FILE
  local name=${2%.*} target file=$1/$2 cflags fflags
  read -ra cflags <<<"$CFLAGS_"
  read -ra fflags <<<"$FFLAGS_"
  target=$work/bin/$(folder_name "$1")/$name
  [ ! "$target" -nt "$file" ] || return 0
  mkdir -p "${target%/*}"
  case $file in
    */nc_test/nc_test.c)
      (cd "$work/generated" && m4 -DPNETCDF -I"$source/m4" "$1/tests.h.m4" >tests.h &&
        for f in "$1"/test_*.m4; do c_of "$f" >/dev/null; done &&
        mpicc "${cflags[@]}" -I"$1" -I. -o "$target" "$1"/{nc_test,error,util}.c \
          test_{get,iget,iput,put,read,write}.c "$work/testutils.o" -lpnetcdf -lm) ;;
    *.c | *.m4)
      file=$(c_of "$file") && mpicc "${cflags[@]}" -I"$1" -o "$target" "$file" "$work/testutils.o" -lpnetcdf -lm ;;
    *.cpp) mpicxx "${cflags[@]}" -o "$target" "$file" "$work/testutils.o" -lpnetcdf ;;
    */examples/*.f | */examples/*.f90)
      (cd "$work/modules" && mpifort "${fflags[@]}" -o "$target" "$file" "$work/utils.o" -lpnetcdf) ;;
    *.f | *.F | *.f90 | *.F90)
      (cd "$work/modules" && mpifort "${fflags[@]}" -o "$target" "$file" "$work/testutilsf.o" -lpnetcdf) ;;
  esac >"$target.log" 2>&1 || echo "not built: ${target#"$work/bin/"} ($target.log)"
}

export -f build_one c_of folder_name

build() {
  mkdir -p "$work"/{generated,modules,bin}
  mpicc "${cflags[@]}" -c -o "$work/testutils.o" "$source/test/common/testutils.c" || exit 1
  (cd "$work/modules" && mpifort "${fflags[@]}" -c -o "$work/testutilsf.o" "$source/test/common/testutilsf.F90" &&
    mpifort "${fflags[@]}" -c -o "$work/utils.o" "$source/examples/F90/utils.F90") || exit 1
  local folder file
  for folder in "$source"/test/{testcases,nonblocking,C,header,cdf_format,nc_test,F90,CXX,largefile} "$source"/examples/{C,F77,F90,CXX}; do
    for file in "$folder"/*; do
      file=${file##*/}
      case ${folder##*/}/$file in
        # parts of others; programs for other libraries and for threads; what is no program of this version
        nc_test/error.c | nc_test/util.c | nc_test/test_*.m4 | nc_test/tests.h.m4 | */utils.F90 | */*pthread.c) ;;
        testcases/nc_null_args.c | testcases/profile.c | testcases/flexible_large_count.c) ;;
        *.c | *.m4 | *.cpp | *.f | *.F | *.f90) echo "$folder" "$file" ;;
      esac
    done
  done | xargs -r -L 1 -P "$(nproc)" bash -c 'build_one "$@"' -
}

# ---- run

# Arguments of a program in the folder of its run; a few do not take a file's name.
arguments_of() {
  case $1 in
    nc_test/nc_test) echo "-d ." ;;
    F90/tst_io) echo . ;;
    cdf_format/test_inq_format) echo "$source/test/cdf_format" ;;
    cdf_format/tst_open_cdf5) echo "$source/test/cdf_format/bad_begin.nc5" ;;
    cdf_format/tst_corrupt) echo "$source/test/cdf_format" ;;
    *) echo "${1##*/}.nc" ;;
  esac
}

# A program that reads what another one writes.
writer_of() {
  case $1 in
    C/pres_temp_4D_rd) echo C/pres_temp_4D_wr ;;
    examples_*/get_vara) echo "${1%/*}/put_vara" ;;
  esac
}

# What takes memory or disk by the gigabyte, or a time of minutes on its own driver, is run when it is named.
is_left_out() {
  case $1 in
    largefile/* | testcases/tst_max_var_dims | nonblocking/large_num_reqs) return 0 ;;
    *) return 1 ;;
  esac
}

# Programs that are not for several ranks, or no parallel programs of PnetCDF at all.
is_for() { # PROGRAM RANKS
  case $1 in
    nc_test/nc_test | nc_test/tst_misc | F90/tst_io) [ "$2" = 1 ] ;;
    examples_C/mpi_subarray) false ;;
    *) true ;;
  esac
}

# What differs from run to run, and the key by which a program can tell that it runs under Forebay.
varying='s/[0-9]+\.[0-9]+/N/g; s/0x[0-9a-f]+/P/g; s/  +/ /g; s/-+ pass/- pass/; s/\[[^]]*:[0-9]+\]/[host]/g'
varying+='; /key = *forebay/Id; s/nkeys = .*/nkeys/'

# run_one PROGRAM RANKS MODE DIR: status to DIR/status, output to DIR/output
run_one() {
  local program=$1 n=$2 mode=$3 dir=$4 environment=() writer step
  rm -rf "$dir" && mkdir -p "$dir/files"
  [ "$mode" = stock ] || environment=(LD_PRELOAD="$driver" FOREBAY_HINTS="forebay_mode=$mode" FOREBAY_STATS="$dir/stats")
  [ -z "$hints" ] || environment+=(PNETCDF_HINTS="$hints")
  writer=$(writer_of "$program")
  for step in $writer "$program"; do
    # shellcheck disable=SC2046 # arguments are words
    (cd "$dir/files" && timeout -k 5 "${FOREBAY_OWN_TESTS_TIMEOUT:-120}" mpirun -n "$n" env \
      PNETCDF_SAFE_MODE=0 "${environment[@]}" "$work/bin/$step" $(arguments_of "$program") >>"$dir/raw" 2>&1 </dev/null)
    echo $? >>"$dir/status"
  done
  sed -E "$varying" "$dir/raw" | sort >"$dir/output"
}

# compare PROGRAM RANKS MODE: says "same", or what differs
compare() {
  local stock=$work/runs/$1.$2.stock ours=$work/runs/$1.$2.$3 said='' f
  cmp -s "$stock/status" "$ours/status" || said+=" status $(xargs <"$stock/status") -> $(xargs <"$ours/status")"
  [ "$(tail -n 1 "$ours/status")" -lt 124 ] || said+=" (hangs or is killed)"
  cmp -s "$stock/output" "$ours/output" || said+=" output"
  for f in $(cd "$stock/files" && find . -type f) $(cd "$ours/files" && find . -type f); do
    cmp -s "$stock/files/$f" "$ours/files/$f" || [[ $said == *" $f"* ]] || said+=" $f"
  done
  if [ -n "$said" ]; then # ranks that write different values at one place: does it agree with itself?
    run_one "$1" "$2" stock "$stock.again"
    if ! diff -rq "$stock/files" "$stock.again/files" >/dev/null || ! cmp -s "$stock/output" "$stock.again/output"; then
      said+=" (not the same twice on stock either)"
    fi
    rm -rf "$stock.again"
  fi
  grep -qs '"active": true' "$ours/stats" && echo "${said:-same}" || echo "${said:-same} (driver not active)"
}

build
programs=()
if [ ${#only[@]} -gt 0 ]; then
  programs=("${only[@]}")
else
  while read -r program; do is_left_out "$program" || programs+=("$program"); done < \
    <(cd "$work/bin" && find . -type f -perm -100 | sed 's,^\./,,' | sort)
fi
[ ${#programs[@]} -gt 0 ] || { echo "nothing to run" >&2 && exit 2; }
: >"$work/results"
for program in "${programs[@]}"; do
  [ -x "$work/bin/$program" ] || { echo "no program $program" >&2 && continue; }
  for n in $ranks; do
    is_for "$program" "$n" || continue
    run_one "$program" "$n" stock "$work/runs/$program.$n.stock"
    differs=
    for mode in $modes; do
      run_one "$program" "$n" "$mode" "$work/runs/$program.$n.$mode"
      verdict=$(compare "$program" "$n" "$mode")
      echo "$program $n $mode: stock $(xargs <"$work/runs/$program.$n.stock/status"), $verdict" | tee -a "$work/results"
      case $verdict in same*) rm -rf "$work/runs/$program.$n.$mode" ;; *) differs=1 ;; esac
    done
    [ -n "$differs" ] || rm -rf "$work/runs/$program.$n.stock"
  done
done
counts() { grep "$@" "$work/results"; }
echo "$(counts -c ', same') the same, $(counts -vc ', same') not; the driver was active in $(counts -vc 'not active') runs"
! grep -qv ', same' "$work/results"
