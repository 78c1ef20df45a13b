#!/bin/bash
# Installs a build into an empty prefix, moves it, and builds and runs a user's project against it: by find_package, by
# pkg-config, and by the environment alone.
# usage: install_test.sh CMAKE BUILD_DIR MPIEXEC [yes: there is a Kokkos]
set -euo pipefail
cmake=$1 build=$2 mpiexec=$3 kokkos=${4:-no}
project=$(dirname "$(readlink -f "$0")")/project
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name 'libforebay_hdf5.so*' -not -path '*/forebay/*' -print -quit)")
sources=$(readlink -f "$project/../../..")
if grep -rlF -e "$build" -e "$sources/" -e "$work/first" "$prefix"; then
  echo "FAIL the installed files above name the folder of the build or of the sources, or the first prefix" && exit 1
fi

for file in share/doc/forebay/LICENSE share/doc/forebay/docs/hints.md share/doc/forebay/docs/own-format.md share/forebay/report.schema.json \
  share/bash-completion/completions/forebay share/zsh/site-functions/_forebay share/fish/vendor_completions.d/forebay.fish; do
  [ -s "$prefix/$file" ] || { echo "FAIL $file is not installed" && exit 1; }
done
# A relative or empty entry would be whatever folder a program is in.
# shellcheck disable=SC2016 # the loader's $ORIGIN
while IFS= read -r file; do
  if readelf -d "$file" 2>/dev/null | sed -nE 's/.*R(UN)?PATH.*\[(.*)\]/\2/p' | tr : '\n' | grep -qvE '^(/|\$ORIGIN)'; then
    echo "FAIL the search path of $file leads to the current folder" && exit 1
  fi
done < <(find "$prefix" -type f)

# runs NAME PROGRAM FILE: on two ranks, and Forebay's own report must name the file.
runs() {
  local stats=$work/$1.json
  FOREBAY_STATS=$stats "$mpiexec" -n 2 "${@:2}"
  grep -q "$(basename "${!#}")" "$stats" || { echo "FAIL $1 ran on the stock driver" && exit 1; }
  echo "ok   $1"
}

cd "$work"
"$cmake" -S "$project" -B by-cmake -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >by-cmake.log || { cat by-cmake.log && exit 1; }
"$cmake" --build by-cmake
runs cmake-hdf5 by-cmake/hdf5_program a.h5
runs cmake-pnetcdf by-cmake/pnetcdf_program a.nc
runs cmake-tcio by-cmake/tcio_program a.dat

# The drivers have C interfaces: a project without C++ can use them.
sed 's/LANGUAGES C CXX/LANGUAGES C/; s/COMPONENTS core/COMPONENTS/' "$project/CMakeLists.txt" >CMakeLists.txt
grep -q 'LANGUAGES C)' CMakeLists.txt
cp "$project"/*.c .
"$cmake" -S . -B in-c -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >in-c.log || { cat in-c.log && exit 1; }
"$cmake" --build in-c
runs cmake-in-c in-c/hdf5_program e.h5
runs cmake-in-c-tcio in-c/tcio_program e.dat

# Nor does one in C++ alone need to know that.
mkdir alone-cxx
cat >alone-cxx/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(alone LANGUAGES CXX)
find_package(forebay REQUIRED)
add_executable(alone alone.cpp)
target_compile_features(alone PRIVATE cxx_std_20)
target_link_libraries(alone PRIVATE forebay::forebay)
END
cat >alone-cxx/alone.cpp <<'END'
#include <forebay/file.hpp>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<double> values(5, 1.5);
  forebay::File file(MPI_COMM_WORLD, argv[1], forebay::Mode::read_write | forebay::Mode::create);
  file.put({.offset = rank * 40}, values);
  file.close();
  MPI_Finalize();
}
END
"$cmake" -S alone-cxx -B in-cxx -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >in-cxx.log || { cat in-cxx.log && exit 1; }
"$cmake" --build in-cxx
runs cmake-in-cxx in-cxx/alone c.dat

# With Kokkos, where it is.
if [ "$kokkos" = yes ]; then
  "$cmake" -S "$project/kokkos" -B in-kokkos -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >in-kokkos.log || { cat in-kokkos.log && exit 1; }
  "$cmake" --build in-kokkos
  OMP_NUM_THREADS=1 OMP_PROC_BIND=false runs cmake-kokkos in-kokkos/kokkos_program k.dat
fi

export PKG_CONFIG_PATH=$libdir/pkgconfig
flags() { pkg-config --cflags --libs "$1"; }
# shellcheck disable=SC2046
{
  ${CC:-cc} -o by-pc-hdf5 "$project/hdf5_program.c" $(flags forebay-hdf5) -Wl,-rpath,"$libdir"
  ${CC:-cc} -o by-pc-pnetcdf "$project/pnetcdf_program.c" $(flags forebay-pnetcdf) -Wl,-rpath,"$libdir"
  ${CC:-cc} -DPLUGIN -o stock-hdf5 "$project/hdf5_program.c" $(flags forebay-hdf5 | sed 's/-lforebay_hdf5//')
  echo 'int main(void) { return 0; }' >empty.c
  # All of the core, so that a library missing from the package file is missed here.
  ${CC:-cc} -o by-pc-core empty.c -L"$libdir" -Wl,--whole-archive -lforebay_core -lforebay_pure -Wl,--no-whole-archive \
    $(flags forebay-core)
  ${CC:-cc} -o by-pc-tcio "$project/tcio_program.c" $(flags forebay) -Wl,-rpath,"$libdir"
}
runs pkg-config-hdf5 ./by-pc-hdf5 b.h5
runs pkg-config-pnetcdf ./by-pc-pnetcdf b.nc
runs pkg-config-tcio ./by-pc-tcio b.dat
if [ -e "$libdir/pkgconfig/forebay-fortran.pc" ]; then
  "$cmake" -S "$project/fortran" -B in-fortran -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >in-fortran.log || { cat in-fortran.log && exit 1; }
  "$cmake" --build in-fortran
  runs cmake-fortran in-fortran/fortran_program c.dat
  # shellcheck disable=SC2046
  mpifort -o by-pc-fortran-tcio "$project/fortran/program.f90" $(flags forebay-fortran) -Wl,-rpath,"$libdir"
  runs pkg-config-fortran ./by-pc-fortran-tcio d.dat
fi
# Linked after PnetCDF it is not asked, and says so, one rank for all.
# shellcheck disable=SC2046
${CC:-cc} -o in-vain "$project/pnetcdf_program.c" $(flags forebay-pnetcdf | sed 's/-lforebay_pnetcdf\( .*\)/\1 -lforebay_pnetcdf/') \
  -Wl,-rpath,"$libdir"
"$mpiexec" -n 2 ./in-vain j.nc 2>in-vain.err
[ "$(grep -c '^forebay: PnetCDF runs on its stock driver: ' in-vain.err)" = 1 ] || { cat in-vain.err && echo "FAIL not one line" && exit 1; }
echo "ok   the wrong order is told"
FOREBAY_VERBOSE=1 "$mpiexec" -n 1 ./by-pc-pnetcdf l.nc 2>&1 | grep -q "^forebay: PnetCDF runs on Forebay's driver, automatic: strict, since no keeper process runs here" ||
  { echo "FAIL nothing tells which driver" && exit 1; }
FOREBAY_VERBOSE=1 FOREBAY_HINTS=forebay_enable=off "$mpiexec" -n 1 ./by-pc-pnetcdf l.nc 2>verbose.err
if ! grep -q "PnetCDF's own driver is used" verbose.err || grep -q "runs on Forebay's" verbose.err; then
  cat verbose.err && echo "FAIL it is off and says otherwise" && exit 1
fi
echo "ok   it is told which driver a program runs on"
# With PnetCDF's archive, by C's linker and by Fortran's.
archive=$(pkg-config --variable=pnetcdf forebay-pnetcdf-static)
if [ -e "$archive" ]; then
  # shellcheck disable=SC2046
  {
    ${CC:-cc} -c -o static.o "$project/pnetcdf_program.c" $(pkg-config --cflags forebay-pnetcdf-static)
    ${CC:-cc} -o by-pc-static static.o $(pkg-config --static --libs forebay-pnetcdf-static)
    runs pkg-config-static ./by-pc-static f.nc
    ${CC:-cc} -o by-pc-not-static static.o $(pkg-config --libs forebay-pnetcdf-static)
    runs pkg-config-static-without-the-word ./by-pc-not-static i.nc
    # Without --wrap the linker takes nothing of it: nothing is told at run time, so the check in docs/pnetcdf.md must tell.
    ${CC:-cc} -o unwrapped static.o $(pkg-config --libs forebay-pnetcdf-static | sed 's/-Wl,--wrap=ncmpio_inq_driver//')
    inside() { grep -c '@(#) Forebay PnetCDF driver' "$1"; }
    [ "$(inside by-pc-static)" = 1 ] || { echo "FAIL the mark is not found" && exit 1; }
    [ "$(inside unwrapped || true)" = 0 ] || { echo "FAIL the mark is in a program without --wrap" && exit 1; }
    "$prefix/bin/forebay" run ./unwrapped k.nc 2>&1 | grep -q 'stock driver.*static' || { echo "FAIL forebay run does not tell" && exit 1; }
    echo "ok   a forgotten --wrap is found"
    if command -v "${FC:-gfortran}" >/dev/null; then
      ${FC:-gfortran} -o by-pc-fortran static.o $(pkg-config --static --libs forebay-pnetcdf-static)
      runs pkg-config-static-fortran ./by-pc-fortran g.nc
    fi
  }
  if XDG_DATA_HOME=$work/data "$prefix/bin/forebay" dropin >dropin.out; then
    # shellcheck disable=SC2046
    ${CC:-cc} -o plain "$project/pnetcdf_program.c" $(pkg-config --cflags forebay-pnetcdf) "$(sed -n 's/^It stands for \([^,]*\),.*/\1/p' dropin.out)" \
      -lmpi
    runs installed-dropin "$prefix/bin/forebay" run ./plain h.nc
    rm -r "$libdir/forebay/dropin"
  else
    cat dropin.out && echo "FAIL no drop-in is made by the installed command" && exit 1
  fi
fi
./by-pc-core

runs installed-command "$prefix/bin/forebay" run by-cmake/pnetcdf_program c.nc
runs installed-plugin env HDF5_DRIVER=forebay HDF5_PLUGIN_PATH="$libdir/forebay/hdf5" ./stock-hdf5 d.h5
"$prefix/bin/forebay" doctor
