#include "checkpoint.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "agree.hpp"
#include "binary_file.hpp"

namespace amr {

const std::vector<std::pair<std::string, Way>>& ways() {
  static const std::vector<std::pair<std::string, Way>> all = {{"tcio", Way::tcio},
                                                               {"mpiio", Way::mpiio},
                                                               {"hdf5", Way::hdf5},
                                                               {"hdf5-multi", Way::hdf5_multi},
                                                               {"pnetcdf", Way::pnetcdf}};
  return all;
}

Way way_for_name(const std::string& path) {
  if (path.ends_with(".h5")) return Way::hdf5;
  if (path.ends_with(".nc")) return Way::pnetcdf;
  return Way::tcio;
}

Way way_of_file(MPI_Comm comm, const std::string& path) {
  int rank = 0, way = 0;
  MPI_Comm_rank(comm, &rank);
  together(comm, [&] {
    if (rank != 0) return;
    std::ifstream file(path, std::ios::binary);
    char begin[8] = {};
    if (!file || file.peek() == std::ifstream::traits_type::eof())
      throw Failure(fmt::format("{}: cannot be read, or is empty", path));
    file.read(begin, sizeof begin);
    if (std::memcmp(begin, "\x89HDF\r\n\x1a\n", 8) == 0)
      way = static_cast<int>(Way::hdf5);
    else if (std::memcmp(begin, "CDF\5", 4) == 0)
      way = static_cast<int>(Way::pnetcdf);
    else if (std::memcmp(begin, binary_magic, 8) == 0)
      way = static_cast<int>(Way::tcio);
    else
      throw Failure(fmt::format("{}: not a checkpoint of this program", path));
  });
  MPI_Bcast(&way, 1, MPI_INT, 0, comm);
  return static_cast<Way>(way);
}

std::unique_ptr<CheckpointWriter> create_checkpoint(MPI_Comm comm, Way way, const std::string& path,
                                                    const State& state) {
  const Layout layout(comm, state.domain, state.share, counts_of(state.mesh));
  if (way == Way::pnetcdf) return create_pnetcdf(comm, path, state, layout);
  if (way == Way::hdf5 || way == Way::hdf5_multi)
    return create_hdf5(comm, way == Way::hdf5_multi, path, state, layout);
  return create_binary(comm, way == Way::tcio, path, state, layout);
}

std::unique_ptr<CheckpointReader> open_checkpoint(MPI_Comm comm, Way way, const std::string& path) {
  if (way == Way::pnetcdf) return open_pnetcdf(comm, path);
  if (way == Way::hdf5 || way == Way::hdf5_multi) return open_hdf5(comm, way == Way::hdf5_multi, path);
  return open_binary(comm, way == Way::tcio, path);
}

void thread_checkpoint(MPI_Comm comm, const std::string& path, Mesh& mesh, Space space) {
  together(comm, [&] {
    try {
      thread(mesh, space);
    } catch (const Failure& failure) {
      throw Failure(fmt::format("{}: {}", path, failure.what()));
    }
  });
}

void write_checkpoint(MPI_Comm comm, Way way, const std::string& path, const State& state) {
  const std::unique_ptr<CheckpointWriter> writer = create_checkpoint(comm, way, path, state);
  writer->put();
  writer->close();
}

Restart read_checkpoint(MPI_Comm comm, Way way, const std::string& path, Space space) {
  const std::unique_ptr<CheckpointReader> reader = open_checkpoint(comm, way, path);
  reader->get();
  reader->close();
  thread_checkpoint(comm, path, reader->restart().mesh, space);
  return std::move(reader->restart());
}

std::unique_ptr<Domain> make_domain(const std::string& path, const std::vector<std::int32_t>& segment_lengths,
                                    std::int64_t roots) {
  std::int64_t sum = 0;
  for (const std::int32_t length : segment_lengths) sum += length < 1 ? roots : length;
  if (sum != roots)
    throw Failure(fmt::format("{}: damaged: its segments do not have {} root cells", path, roots));
  try {
    return std::make_unique<Domain>(segment_lengths);
  } catch (const Failure& failure) {
    throw Failure(fmt::format("{}: damaged: {}", path, failure.what()));
  }
}

void check_header(const std::string& path, std::int64_t version, std::int64_t levels,
                  std::int64_t found_variables) {
  if (version != format_version)
    throw Failure(fmt::format("{}: version {} of the format, and this program reads {}", path, version,
                              format_version));
  if (levels != deepest || found_variables != variables)
    throw Failure(fmt::format("{}: {} levels of {} variables, and this program has {} of {}", path, levels,
                              found_variables, deepest, variables));
}

}  // namespace amr
