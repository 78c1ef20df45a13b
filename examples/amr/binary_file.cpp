#include "binary_file.hpp"

#include <fmt/format.h>

#include <cstring>

#include "agree.hpp"
#include "checkpoint.hpp"

namespace amr {
namespace {

std::unique_ptr<PieceFile> open(MPI_Comm comm, bool tcio, const std::string& path, Access access) {
  return tcio ? open_tcio(comm, path, access) : open_mpiio(comm, path, access);
}

std::int64_t tables_at() {
  return sizeof(BinaryHeader);
}
std::int64_t counts_at(std::int64_t segments) {
  return tables_at() + 4 * segments;
}
std::int64_t trees_at(std::int64_t segments, std::int64_t roots) {
  return counts_at(segments) + 4 * deepest * roots;
}

// Calls body(offset of the rows, first local tree, trees) for the counts of each segment of the share.
template <class Body>
void for_each_row_block(const Domain& domain, const Share& share, const Body& body) {
  int tree = 0;
  for (const int segment : share.segments()) {
    body(counts_at(domain.segments()) + std::int64_t{4} * deepest * domain.begin(segment), tree,
         domain.length(segment));
    tree += domain.length(segment);
  }
}

// Calls body(offset, array) for each array of each tree of the share.
template <class Body>
void for_each_piece(const Domain& domain, const Share& share, const Mesh& mesh, const Layout& layout,
                    const Body& body) {
  const std::int64_t begin = trees_at(domain.segments(), domain.roots());
  int tree = 0;
  for (const int segment : share.segments()) {
    std::int64_t offset = begin + layout.bytes_before(segment);
    for (int i = 0; i < domain.length(segment); ++i, ++tree)
      for_each_array(mesh, tree, [&](const Array& array) {
        body(offset, array);
        offset += array.bytes();
      });
  }
}

void check(const std::string& path, const BinaryHeader& header, std::int64_t size) {
  if (std::memcmp(header.magic, binary_magic, sizeof header.magic) != 0)
    throw Failure(fmt::format("{}: not a checkpoint of this program", path));
  check_header(path, header.version, header.levels, header.variables);
  if (header.segments < 1 || header.roots < header.segments ||
      header.trees_at != trees_at(header.segments, header.roots) || header.bytes < header.trees_at)
    throw Failure(fmt::format("{}: a damaged header", path));
  if (size != header.bytes)
    throw Failure(fmt::format("{}: {} bytes instead of {}: {}", path, size, header.bytes,
                              size < header.bytes ? "truncated" : "something was appended"));
}

}  // namespace

void write_binary(MPI_Comm comm, bool tcio, const std::string& path, const State& state,
                  const Layout& layout) {
  const Domain& domain = state.domain;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::unique_ptr<PieceFile> file = open(comm, tcio, path, Access::write);
  together(comm, [&] {
    if (rank == 0) {
      BinaryHeader header{{},
                          format_version,
                          deepest,
                          variables,
                          domain.segments(),
                          domain.roots(),
                          state.mesh.step,
                          state.digest,
                          trees_at(domain.segments(), domain.roots()),
                          0};
      std::memcpy(header.magic, binary_magic, sizeof header.magic);
      header.bytes = header.trees_at + layout.bytes();
      file->write_at(0, &header, sizeof header);
      std::vector<std::int32_t> lengths;
      for (int segment = 0; segment < domain.segments(); ++segment) lengths.push_back(domain.length(segment));
      file->write_at(tables_at(), lengths.data(), std::int64_t{4} * domain.segments());
    }
    const Counts counts = counts_of(state.mesh);
    for_each_row_block(domain, state.share, [&](std::int64_t offset, int tree, int trees) {
      file->write_at(offset, &counts[static_cast<std::size_t>(tree) * deepest],
                     std::int64_t{4} * deepest * trees);
    });
    for_each_piece(domain, state.share, state.mesh, layout, [&](std::int64_t offset, const Array& array) {
      file->write_at(offset, array.data, array.bytes());
    });
  });
  file->close();
}

Restart read_binary(MPI_Comm comm, bool tcio, const std::string& path) {
  Restart restart;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::unique_ptr<PieceFile> file = open(comm, tcio, path, Access::read);
  const std::int64_t size = file->size();
  BinaryHeader header{};
  together(comm, [&] {
    if (size < tables_at())
      throw Failure(fmt::format("{}: too short for a checkpoint of this program", path));
    file->read_at(0, &header, sizeof header);
  });
  file->fetch();
  together(comm, [&] { check(path, header, size); });

  std::vector<std::int32_t> lengths(static_cast<std::size_t>(header.segments));
  together(comm, [&] { file->read_at(tables_at(), lengths.data(), std::int64_t{4} * header.segments); });
  file->fetch();
  together(comm, [&] {
    restart.domain = make_domain(path, lengths, header.roots);
    restart.share = std::make_unique<Share>(*restart.domain, rank, ranks);
  });
  const Domain& domain = *restart.domain;
  const Share& share = *restart.share;

  Counts counts(static_cast<std::size_t>(share.trees()) * deepest);
  together(comm, [&] {
    for_each_row_block(domain, share, [&](std::int64_t offset, int tree, int trees) {
      file->read_at(offset, &counts[static_cast<std::size_t>(tree) * deepest],
                    std::int64_t{4} * deepest * trees);
    });
  });
  file->fetch();
  const Layout layout(comm, domain, share, counts);
  together(comm, [&] {
    if (header.trees_at + layout.bytes() != header.bytes)
      throw Failure(fmt::format("{}: damaged: the trees take {} bytes, and there are {}", path,
                                layout.bytes(), header.bytes - header.trees_at));
    restart.mesh = make_mesh(domain, share, counts);
    for_each_piece(domain, share, restart.mesh, layout, [&](std::int64_t offset, const Array& array) {
      file->read_at(offset, array.data, array.bytes());
    });
  });
  file->fetch();
  file->close();
  restart.mesh.step = header.step;
  restart.digest = header.digest;
  return restart;
}

}  // namespace amr
