// forebay-amr-writer: writes checkpoints of an adaptive mesh, and restarts from them.
#include <fmt/format.h>
#include <hdf5.h>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <optional>
#include <stdexcept>

#include "amr_row.hpp"
#include "row_writer.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  std::string binary = "tcio", hdf5 = "hdf5";
  std::optional<Kokkos::ScopeGuard> kokkos;
  std::optional<AmrMesh> mesh;
  const auto way_called = [](const std::string& name) {
    for (const auto& [known, way] : amr::ways())
      if (known == name) return way;
    throw std::runtime_error("there is no way " + name);
  };
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  RowWriter writer;
  writer.program = "forebay-amr-writer";
  writer.version = fmt::format("{}.{}.{}", major, minor, release);
  writer.make_row = [&](const std::string& name, const Setting& setting) {
    if (!kokkos)
      kokkos.emplace(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
    if (!mesh) mesh.emplace(setting);
    if (name == "trees") return make_amr_row(*mesh, way_called(binary));
    if (name == "hdf5") return make_amr_row(*mesh, way_called(hdf5));
    if (name == "pnetcdf") return make_amr_row(*mesh, amr::Way::pnetcdf);
    throw std::runtime_error("there is no row " + name);
  };
  writer.add_options = [&](CLI::App& app) {
    app.add_option("--binary", binary, "row trees: tcio or mpiio")->capture_default_str();
    app.add_option("--hdf5", hdf5, "row hdf5: hdf5 or hdf5-multi")->capture_default_str();
  };
  return row_writer_main(writer, argc, argv);
}
