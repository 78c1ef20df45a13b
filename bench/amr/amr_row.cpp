// Counts what a checkpoint holds, and has it written and read.
#include "amr_row.hpp"

#include <mpi.h>

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

class AmrRow final : public Row {
 public:
  AmrRow(const amr::State& state, amr::Way way) : state_(state), way_(way) {
    for (int tree = 0; tree < state.mesh.trees(); ++tree)
      amr::for_each_array(state.mesh, tree, [&](const amr::Array& array) { count(1, array.bytes()); });
  }

  void create(const std::string& path, MPI_Info) override { path_ = path; }
  void write() override { amr::write_checkpoint(MPI_COMM_WORLD, way_, path_, state_); }
  void open(const std::string& path, MPI_Info) override { path_ = path; }
  void read() override { restart_ = amr::read_checkpoint(MPI_COMM_WORLD, way_, path_, space); }
  void close() override {}
  // What the restart has, not what its file says.
  bool same() const override {
    return amr::digest(MPI_COMM_WORLD, restart_.mesh, space) == state_.digest &&
           restart_.digest == state_.digest;
  }

 private:
  amr::State state_;
  amr::Way way_;
  std::string path_;
  amr::Restart restart_;
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
