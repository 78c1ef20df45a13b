// The list of rows.
#include "application_rows.hpp"

namespace forebay::bench {
namespace {

constexpr RowInfo row(std::string_view name, std::string_view title, bool quick) {
  return {name, title, quick, true, true};
}

constexpr RowInfo rows[] = {
    row("petsc-dmda-80b", "PETSc, vectors of a 3-D DMDA, independent, pieces of 80 bytes, a flush each",
        true),
    row("petsc-dmda-19k", "the same, 2-D, pieces of 19 KB", false),
    row("petsc-dmda-steps", "as petsc-dmda-80b, steps of one vector", false),
    row("petsc-dmplex", "PETSc, a DMPlex checkpoint, independent slabs, a flush each", true),
    row("adios2-512-40", "ADIOS2's HDF5 engine, 40 steps, independent rows of 512 bytes", true),
    row("adios2-512-200", "the same, 200 steps", false),
    row("adios2-2k-40", "the same, 40 steps, rows of 2 KiB", false),
    row("adios2-2k-200", "the same, 200 steps, rows of 2 KiB", false),
    row("meep", "Meep, a file an output, independent, boxes of 40 and 176 bytes a piece", true),
    row("h5netcdf", "h5netcdf, steps of variables in columns, independent, rows of 800 bytes", true),
    row("lammps", "LAMMPS, dump netcdf/mpiio, opened and closed for each frame", true),
    row("dolfinx", "DOLFINx, XDMF: a mesh and steps of a function, collective slabs", true),
    row("writers-4k", "a checkpoint of many datasets, independent slabs of 4 KiB", false),
    row("writers-64", "particles appended each step, independent, 64 bytes a rank and property", true),
};

}  // namespace

std::span<const RowInfo> application_rows() {
  return rows;
}

}  // namespace forebay::bench
