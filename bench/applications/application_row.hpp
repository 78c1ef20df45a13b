// The rows by name. Each of them makes the calls that a program makes, in its order and its mode: what is
// known of them is in the sources that its file names.
#pragma once

#include <memory>
#include <string_view>

#include "row.hpp"

namespace forebay::bench {

// Timed from the creation of the file. Throws std::runtime_error where there is none of that name.
std::unique_ptr<Row> make_application_row(std::string_view name, const Setting& setting,
                                          bool collective_metadata);

// By file.
enum class Dmda { short_pieces, long_pieces, steps };
std::unique_ptr<Row> make_dmda_row(const Setting& setting, bool collective_metadata, Dmda dmda);
std::unique_ptr<Row> make_dmplex_row(const Setting& setting, bool collective_metadata);
std::unique_ptr<Row> make_adios2_row(const Setting& setting, bool collective_metadata, int row_bytes,
                                     int steps);
std::unique_ptr<Row> make_meep_row(const Setting& setting, bool collective_metadata);
std::unique_ptr<Row> make_h5netcdf_row(const Setting& setting, bool collective_metadata);
std::unique_ptr<Row> make_dolfinx_row(const Setting& setting, bool collective_metadata);
std::unique_ptr<Row> make_lammps_row(const Setting& setting);
std::unique_ptr<Row> make_checkpoint_row(const Setting& setting, bool collective_metadata);
std::unique_ptr<Row> make_particles_row(const Setting& setting, bool collective_metadata);

}  // namespace forebay::bench
