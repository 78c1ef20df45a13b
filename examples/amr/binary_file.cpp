#include "binary_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

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

class BinaryWriter final : public CheckpointWriter {
 public:
  BinaryWriter(MPI_Comm comm, bool tcio, const std::string& path, const State& state, const Layout& layout)
      : comm_(comm),
        state_(state),
        layout_(layout),
        counts_(counts_of(state.mesh)),
        file_(open(comm, tcio, path, Access::write)) {}

  void put() override {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    together(comm_, [&] {
      if (rank == 0) put_head();
      for_each_row_block(state_.domain, state_.share, [&](std::int64_t offset, int tree, int trees) {
        file_->write_at(offset, &counts_[static_cast<std::size_t>(tree) * deepest],
                        std::int64_t{4} * deepest * trees);
      });
      for_each_piece(state_.domain, state_.share, state_.mesh, layout_,
                     [&](std::int64_t offset, const Array& array) {
                       file_->write_at(offset, array.data, array.bytes());
                     });
    });
  }
  void close() override { file_->close(); }

 private:
  void put_head() {
    const Domain& domain = state_.domain;
    BinaryHeader header{{},
                        format_version,
                        deepest,
                        variables,
                        domain.segments(),
                        domain.roots(),
                        state_.mesh.step,
                        state_.digest,
                        trees_at(domain.segments(), domain.roots()),
                        0};
    std::memcpy(header.magic, binary_magic, sizeof header.magic);
    header.bytes = header.trees_at + layout_.bytes();
    file_->write_at(0, &header, sizeof header);
    std::vector<std::int32_t> lengths;
    for (int segment = 0; segment < domain.segments(); ++segment) lengths.push_back(domain.length(segment));
    file_->write_at(tables_at(), lengths.data(), std::int64_t{4} * domain.segments());
  }

  MPI_Comm comm_;
  State state_;
  Layout layout_;
  Counts counts_;
  std::unique_ptr<PieceFile> file_;
};

class BinaryReader final : public CheckpointReader {
 public:
  BinaryReader(MPI_Comm comm, bool tcio, const std::string& path)
      : comm_(comm), path_(path), file_(open(comm, tcio, path, Access::read)) {
    get_header();
    get_segments();
    get_counts();
    layout_.emplace(comm_, *restart_.domain, *restart_.share, counts_);
    together(comm_, [&] {
      if (header_.trees_at + layout_->bytes() != header_.bytes)
        throw Failure(fmt::format("{}: damaged: the trees take {} bytes, and there are {}", path_,
                                  layout_->bytes(), header_.bytes - header_.trees_at));
      restart_.mesh = make_mesh(*restart_.domain, *restart_.share, counts_);
    });
    restart_.mesh.step = header_.step;
    restart_.digest = header_.digest;
  }

  void get() override {
    together(comm_, [&] {
      for_each_piece(*restart_.domain, *restart_.share, restart_.mesh, *layout_,
                     [&](std::int64_t offset, const Array& array) {
                       file_->read_at(offset, array.data, array.bytes());
                     });
    });
    file_->fetch();
  }
  void close() override { file_->close(); }

 private:
  void get_header() {
    const std::int64_t size = file_->size();
    together(comm_, [&] {
      if (size < tables_at())
        throw Failure(fmt::format("{}: too short for a checkpoint of this program", path_));
      file_->read_at(0, &header_, sizeof header_);
    });
    file_->fetch();
    together(comm_, [&] { check(path_, header_, size); });
  }
  void get_segments() {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    together(comm_, [&] {
      lengths_.resize(static_cast<std::size_t>(header_.segments));
      file_->read_at(tables_at(), lengths_.data(), std::int64_t{4} * header_.segments);
    });
    file_->fetch();
    together(comm_, [&] {
      restart_.domain = make_domain(path_, lengths_, header_.roots);
      restart_.share = std::make_unique<Share>(*restart_.domain, rank, ranks);
    });
  }
  void get_counts() {
    together(comm_, [&] {
      counts_.resize(static_cast<std::size_t>(restart_.share->trees()) * deepest);
      for_each_row_block(*restart_.domain, *restart_.share, [&](std::int64_t offset, int tree, int trees) {
        file_->read_at(offset, &counts_[static_cast<std::size_t>(tree) * deepest],
                       std::int64_t{4} * deepest * trees);
      });
    });
    file_->fetch();
  }

  MPI_Comm comm_;
  std::string path_;
  BinaryHeader header_{};
  std::vector<std::int32_t> lengths_;
  Counts counts_;
  std::optional<Layout> layout_;
  std::unique_ptr<PieceFile> file_;  // the last: until it is gone it may fill the others
};

}  // namespace

std::unique_ptr<CheckpointWriter> create_binary(MPI_Comm comm, bool tcio, const std::string& path,
                                                const State& state, const Layout& layout) {
  return std::make_unique<BinaryWriter>(comm, tcio, path, state, layout);
}

std::unique_ptr<CheckpointReader> open_binary(MPI_Comm comm, bool tcio, const std::string& path) {
  return std::make_unique<BinaryReader>(comm, tcio, path);
}

}  // namespace amr
