// Rows by name.
#include "application_row.hpp"

#include <stdexcept>
#include <string>

namespace forebay::bench {
namespace {

std::unique_ptr<Row> make_row(std::string_view name, const Setting& setting, bool collective_metadata) {
  if (name == "petsc-dmda-80b") return make_dmda_row(setting, collective_metadata, Dmda::short_pieces);
  if (name == "petsc-dmda-19k") return make_dmda_row(setting, collective_metadata, Dmda::long_pieces);
  if (name == "petsc-dmda-steps") return make_dmda_row(setting, collective_metadata, Dmda::steps);
  if (name == "petsc-dmplex") return make_dmplex_row(setting, collective_metadata);
  if (name == "adios2-512-40") return make_adios2_row(setting, collective_metadata, 512, 40);
  if (name == "adios2-512-200") return make_adios2_row(setting, collective_metadata, 512, 200);
  if (name == "adios2-2k-40") return make_adios2_row(setting, collective_metadata, 2048, 40);
  if (name == "adios2-2k-200") return make_adios2_row(setting, collective_metadata, 2048, 200);
  if (name == "meep") return make_meep_row(setting, collective_metadata);
  if (name == "h5netcdf") return make_h5netcdf_row(setting, collective_metadata);
  if (name == "lammps") return make_lammps_row(setting);
  if (name == "dolfinx") return make_dolfinx_row(setting, collective_metadata);
  if (name == "writers-4k") return make_checkpoint_row(setting, collective_metadata);
  if (name == "writers-64") return make_particles_row(setting, collective_metadata);
  throw std::runtime_error("there is no row " + std::string(name));
}

}  // namespace

std::unique_ptr<Row> make_application_row(std::string_view name, const Setting& setting,
                                          bool collective_metadata) {
  return from_create(make_row(name, setting, collective_metadata));
}

}  // namespace forebay::bench
