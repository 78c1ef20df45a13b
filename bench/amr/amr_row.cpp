// Counts what a checkpoint holds, and has it written and read.
#include "amr_row.hpp"

#include <mpi.h>

#include <cstring>

#include "agree.hpp"
#include "digest.hpp"
#include "segments.hpp"
#include "step.hpp"

namespace forebay::bench {
namespace {

constexpr amr::Space space = amr::Space::serial;  // a core a rank

amr::SegmentSettings segments_of(Size size) {
  amr::SegmentSettings settings;
  settings.scale = by_size(size, 0.001, 0.005, 0.02, 0.1);
  return settings;
}

// Memory may hold the mesh of a row before: it gets what no array of a mesh has, since nothing is negative
// or no number there.
void spoil(const amr::Mesh& mesh) {
  for (int level = 0; level <= amr::deepest; ++level) {
    const int octs = mesh.levels[static_cast<std::size_t>(level)].octs();
    for (int index = 0; octs > 0 && index < amr::arrays_of(level); ++index) {
      const amr::Array array = amr::array_of(mesh, level, index, 0, octs);
      std::memset(array.data, 0xff, static_cast<std::size_t>(array.bytes()));
    }
  }
}

class AmrRow final : public Row {
 public:
  AmrRow(const amr::State& state, amr::Way way) : state_(state), way_(way) {
    for (int tree = 0; tree < state.mesh.trees(); ++tree)
      amr::for_each_array(state.mesh, tree, [&](const amr::Array& array) { count(1, array.bytes()); });
  }

  void create(const std::string& path, MPI_Info) override {
    writer_ = amr::create_checkpoint(MPI_COMM_WORLD, way_, path, state_);
  }
  void write() override { writer_->put(); }
  void open(const std::string& path, MPI_Info) override {
    reader_ = amr::open_checkpoint(MPI_COMM_WORLD, way_, path);
    path_ = path;
    spoil(reader_->restart().mesh);
  }
  void read() override { reader_->get(); }
  void close() override {
    if (writer_) writer_->close();
    if (reader_) reader_->close();
  }
  // What the restart has, not what its file says.
  bool same() const override {
    amr::Restart& restart = reader_->restart();
    try {
      amr::thread_checkpoint(MPI_COMM_WORLD, path_, restart.mesh, space);
    } catch (const amr::Failure&) {  // on all ranks
      return false;
    }
    return amr::digest(MPI_COMM_WORLD, restart.mesh, space) == state_.digest &&
           restart.digest == state_.digest;
  }

 private:
  amr::State state_;
  amr::Way way_;
  std::string path_;
  std::unique_ptr<amr::CheckpointWriter> writer_;
  std::unique_ptr<amr::CheckpointReader> reader_;
};

}  // namespace

AmrMesh::AmrMesh(const Setting& setting)
    : domain_(amr::segment_lengths(segments_of(setting.size))),
      share_(domain_, setting.rank, setting.ranks),
      mesh_(amr::make_mesh(domain_, share_, space)) {
  amr::Stepper stepper(MPI_COMM_WORLD, domain_, space);
  for (int step = 0; step < 12; ++step) stepper.step(mesh_);
  digest_ = amr::digest(MPI_COMM_WORLD, mesh_, space);
}

std::unique_ptr<Row> make_amr_row(const AmrMesh& mesh, amr::Way way) {
  return std::make_unique<AmrRow>(mesh.state(), way);
}

}  // namespace forebay::bench
