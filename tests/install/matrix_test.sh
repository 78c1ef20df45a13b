#!/bin/bash
# Configurations of Forebay as sites make them: each is configured, built, installed and used, or refused with the reason.
# usage: matrix_test.sh SOURCES WORK [CONFIGURATION...]     without names: all; "list" lists them
#   CMAKE, MPIEXEC: the programs of those names; JOBS: of a build at once (the number of cores)
set -uo pipefail
sources=$(readlink -f "$1") work=$2
shift 2
cmake=${CMAKE:-cmake} mpiexec=${MPIEXEC:-mpiexec} jobs=${JOBS:-$(nproc)}
project=$sources/tests/install/project
lean=(-DFOREBAY_TESTS=OFF -DFOREBAY_BENCH=OFF -DFOREBAY_EXAMPLES=OFF)
name="" failures=0 dir="" package=""

fail() {
  echo "FAIL $name: $*"
  failures=$((failures + 1))
  return 1
}

# configure OPTION...: into $dir/build; the reasons of a refusal are in $dir/log.
configure() {
  "$cmake" -S "$sources" -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFOREBAY_WERROR=ON "$@" >"$dir/log" 2>&1
}

# made OPTION...: configured, built and installed below $dir/stage, the prefix being /opt/forebay.
made() {
  configure -DCMAKE_INSTALL_PREFIX=/opt/forebay "$@" || { tail -20 "$dir/log" && fail "it does not configure"; } || return 1
  "$cmake" --build "$dir/build" --parallel "$jobs" >"$dir/build.log" 2>&1 ||
    { grep -m5 -A5 "error" "$dir/build.log"; fail "it does not build"; } || return 1
  DESTDIR=$dir/stage "$cmake" --install "$dir/build" --strip >"$dir/install.log" 2>&1 || fail "it does not install" || return 1
  prefix=$dir/stage/opt/forebay
}

# has FILE... and lacks FILE...: below the prefix, as the shell expands them.
has() {
  local file
  for file in "$@"; do compgen -G "$prefix/$file" >/dev/null || fail "$file is not installed" || return 1; done
}
lacks() {
  local file
  for file in "$@"; do ! compgen -G "$prefix/$file" >/dev/null || fail "$file is installed" || return 1; done
}

# uses COMPONENT SOURCE: a program of a user's, found by CMake (in the folder `package`, if set), runs on two ranks.
uses() {
  rm -rf "$dir/user" && mkdir -p "$dir/user" && cp "$project/$2" "$dir/user/" || return 1
  cat >"$dir/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(forebay 0.1 REQUIRED COMPONENTS $1)
add_executable(program $2)
target_link_libraries(program PRIVATE forebay::$1)
END
  { "$cmake" -S "$dir/user" -B "$dir/user/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" ${package:+-Dforebay_DIR="$prefix/$package"} &&
    "$cmake" --build "$dir/user/build"; } >"$dir/user.log" 2>&1 || { tail -15 "$dir/user.log" && fail "no program can use $1"; } || return 1
  (cd "$dir" && "$mpiexec" -n 2 user/build/program file) >"$dir/run.log" 2>&1 || { tail -5 "$dir/run.log" && fail "the program of $1 does not run"; }
}

# refused WORDS OPTION...: with these words.
refused() {
  local words=$1
  shift
  ! configure "$@" || fail "it configures" || return 1
  tr -s ' \n' ' ' <"$dir/log" | grep -q "$words" || { tail -15 "$dir/log" && fail "it does not say '$words'"; }
}

all() { made "${lean[@]}" && has bin/forebay lib*/libforebay.so.0.* include/forebay/hdf5.h share/man/man1/forebay.1 \
  share/doc/forebay/LICENSE share/forebay/report.schema.json && uses forebay tcio_program.c &&
  { "$prefix/bin/forebay" doctor "$dir" >"$dir/doctor.log" 2>&1 || { cat "$dir/doctor.log" && fail "doctor is not content"; }; }; }
hdf5_only() { made "${lean[@]}" -DFOREBAY_PNETCDF=OFF && has lib*/libforebay_hdf5.so && lacks lib*/libforebay_pnetcdf* && uses hdf5 hdf5_program.c; }
pnetcdf_only() { made "${lean[@]}" -DFOREBAY_HDF5=OFF && has lib*/libforebay_pnetcdf.so && lacks lib*/libforebay_hdf5* include/forebay/hdf5.h &&
  uses pnetcdf pnetcdf_program.c; }
core_only() { made "${lean[@]}" -DFOREBAY_HDF5=OFF -DFOREBAY_PNETCDF=OFF -DFOREBAY_TOOLS=OFF -DFOREBAY_FORTRAN=OFF -DFOREBAY_KOKKOS=OFF &&
  lacks bin/forebay lib*/libforebay_{hdf5,pnetcdf,fortran}* include/forebay/kokkos.hpp && uses forebay tcio_program.c; }
no_tools() { made "${lean[@]}" -DFOREBAY_TOOLS=OFF && lacks bin/forebay share/man && has lib*/libforebay_hdf5.so; }
no_fortran() { made "${lean[@]}" -DFOREBAY_FORTRAN=OFF && lacks lib*/libforebay_fortran* lib*/pkgconfig/forebay-fortran.pc; }
tests_without_drivers() { made -DFOREBAY_HDF5=OFF -DFOREBAY_PNETCDF=OFF -DFOREBAY_TOOLS=OFF -DFOREBAY_FORTRAN=OFF -DFOREBAY_EXAMPLES=OFF &&
  { ctest --test-dir "$dir/build" -R "tcio_random.np4|api_file.np2" --no-tests=error >"$dir/ctest.log" 2>&1 || fail "its tests fail"; }; }
examples() { made -DFOREBAY_TESTS=OFF -DFOREBAY_BENCH=OFF -DFOREBAY_EXAMPLES=ON -DFOREBAY_KOKKOS=ON && [ -x "$dir/build/examples/amr/amr" ]; }
lib64() { made "${lean[@]}" -DCMAKE_INSTALL_LIBDIR=lib64 && has lib64/libforebay.so lib64/forebay/libforebay_preload.so &&
  lacks lib/libforebay.so && package=lib64/cmake/forebay && uses forebay tcio_program.c && { "$prefix/bin/forebay" doctor "$dir" >"$dir/doctor.log" 2>&1 || fail "doctor is not content"; }; }
libexec() { made "${lean[@]}" -DCMAKE_INSTALL_LIBEXECDIR=lib/forebay/libexec -DCMAKE_INSTALL_BINDIR=sbin -DCMAKE_INSTALL_INCLUDEDIR=headers &&
  has sbin/forebay headers/forebay/tcio.h && uses forebay tcio_program.c; }
moved() { made "${lean[@]}" && mv "$prefix" "$dir/elsewhere" && prefix=$dir/elsewhere && uses hdf5 hdf5_program.c &&
  { "$prefix/bin/forebay" doctor "$dir" >"$dir/doctor.log" 2>&1 || fail "doctor is not content"; }; }
# With the MPI's wrappers for compilers, as on Cray machines.
wrappers() { made "${lean[@]}" -DCMAKE_C_COMPILER=mpicc -DCMAKE_CXX_COMPILER=mpicxx -DCMAKE_Fortran_COMPILER=mpifort -DFOREBAY_PNETCDF=OFF \
  -DFOREBAY_TOOLS=OFF && has lib*/libforebay_hdf5.so && uses hdf5 hdf5_program.c && CC=mpicc CXX=mpicxx uses forebay tcio_program.c; }
uninstalled() {
  made "${lean[@]}" || return 1
  DESTDIR=$dir/stage "$cmake" --build "$dir/build" --target uninstall >"$dir/uninstall.log" 2>&1 || fail "it does not uninstall" || return 1
  if [ -n "$(find "$dir/stage" ! -type d -o -type d -name forebay -path '*/forebay/*')" ]; then
    find "$dir/stage" ! -type d | head -5
    fail "something is left"
  fi
}
# Not in the way of the project that contains it.
subproject() {
  mkdir -p "$dir/outer" && cp "$project/tcio_program.c" "$dir/outer/" && ln -sfn "$sources" "$dir/outer/forebay" || return 1
  cat >"$dir/outer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(outer LANGUAGES C CXX)
add_subdirectory(forebay)
add_executable(program tcio_program.c)
target_link_libraries(program PRIVATE forebay::forebay)
END
  { "$cmake" -S "$dir/outer" -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=Release &&
    "$cmake" --build "$dir/build" --parallel "$jobs" --target program; } >"$dir/log" 2>&1 || { tail -15 "$dir/log" && fail "it cannot be a subproject"; } || return 1
  ! grep -q "tests/" <(cd "$dir/build" && "$cmake" --build . --target help) || fail "tests are built as a subproject" || return 1
  (cd "$dir" && "$mpiexec" -n 2 build/program file) >"$dir/run.log" 2>&1 || fail "its program does not run"
}
missing_hdf5() { refused "FOREBAY_HDF5=ON: an HDF5 from 1.14 on .*, not found in HDF5_ROOT=$dir" -DFOREBAY_HDF5=ON -DHDF5_ROOT="$dir"; }
# The prefix that was named and no other, though the system has one.
missing_pnetcdf() { refused "FOREBAY_PNETCDF=ON: a PnetCDF from 1.12.3 on .*, not found in PnetCDF_ROOT=$dir" -DFOREBAY_PNETCDF=ON -DPnetCDF_ROOT="$dir"; }
wrong_value() { refused "FOREBAY_HDF5=AUT0: not one of ON, OFF and AUTO" -DFOREBAY_HDF5=AUT0; }
# All at once.
missing_much() { refused "FOREBAY_HDF5=ON: .*FOREBAY_PNETCDF=ON: " -DFOREBAY_HDF5=ON -DHDF5_ROOT="$dir" \
  -DFOREBAY_PNETCDF=ON -DPnetCDF_LIBRARY=PnetCDF_LIBRARY-NOTFOUND -DPnetCDF_INCLUDE_DIR="$dir" -DCMAKE_DISABLE_FIND_PACKAGE_PnetCDF=ON; }
# A library that needs some MPI stands for an HDF5 that was built with it.
other_mpi() {
  local compilers
  mkdir -p "$dir/other/lib" && echo 'int no;' >"$dir/no.c" || return 1
  cc -shared -fPIC -Wl,-soname,libmpich.so.999 -o "$dir/libmpich.so" "$dir/no.c" &&
    cc -shared -fPIC -Wl,--no-as-needed -o "$dir/other/lib/libhdf5.so" "$dir/no.c" "$dir/libmpich.so" || return 1
  configure "${lean[@]}" || { tail "$dir/log" && fail "it does not configure"; } || return 1
  ln -sfn "$(sed -n 's/^ParallelHDF5_INCLUDE_DIR:.*=//p' "$dir/build/CMakeCache.txt")" "$dir/other/include" && rm -rf "$dir/build"
  for compilers in "" "-DCMAKE_C_COMPILER=mpicc -DCMAKE_CXX_COMPILER=mpicxx"; do
    # shellcheck disable=SC2086 # two options, or none
    refused "uses another MPI (libmpich.so.999) than the compiler's" "${lean[@]}" $compilers -DFOREBAY_HDF5=ON -DHDF5_ROOT="$dir/other" || return 1
    rm -rf "$dir/build"
  done
  if ! configure "${lean[@]}" -DHDF5_ROOT="$dir/other" || ! grep -q "Left out: FOREBAY_HDF5" "$dir/log"; then fail "by itself it is not left out"; fi
}

known=(all hdf5_only pnetcdf_only core_only no_tools no_fortran tests_without_drivers examples lib64 libexec moved wrappers uninstalled subproject
  missing_hdf5 missing_pnetcdf missing_much wrong_value other_mpi)
[ "${1:-}" != list ] || { printf '%s\n' "${known[@]}" && exit; }
if [ $# -eq 0 ]; then
  set -- "${known[@]}"
  if ! pkg-config --exists pnetcdf; then # as in the root of MPICH
    set -- all hdf5_only core_only no_tools lib64 moved wrappers uninstalled subproject missing_hdf5 missing_pnetcdf missing_much wrong_value \
      other_mpi
    echo "     without a PnetCDF here, not tried: $(printf '%s\n' "${known[@]}" "$@" | sort | uniq -u | paste -sd ' ')"
  fi
fi
mkdir -p "$work"
for name; do
  [[ " ${known[*]} " == *" $name "* ]] || { echo "no configuration '$name'; 'list' lists them" && exit 2; }
  dir=$(readlink -f "$work")/$name prefix="" package=""
  rm -rf "$dir" && mkdir -p "$dir"
  export CCACHE_BASEDIR=$dir # what one configuration compiled, the next need not
  begin=$SECONDS before=$failures
  "$name" || [ "$failures" -gt "$before" ] || fail "see $dir"
  [ "$failures" -gt "$before" ] || { echo "ok   $name ($((SECONDS - begin)) s)" && rm -rf "$dir"; }
done
[ "$failures" -eq 0 ] || { echo "$failures configurations failed; their folders are left in $work" && exit 1; }
