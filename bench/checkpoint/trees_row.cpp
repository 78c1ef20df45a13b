// Checkpoints of examples/amr's mesh, each a file: its trees' arrays behind each other, a call an array.
#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <optional>

#include "amr/amr_row.hpp"
#include "checkpoint_row.hpp"
#include "layout.hpp"

namespace forebay::bench {
namespace {

class TreesRow final : public Row {
 public:
  TreesRow(const Setting& setting, const amr::State& state, amr::Way way)
      : setting_(setting), state_(state), way_(way) {
    for (int tree = 0; tree < state.mesh.trees(); ++tree)
      amr::for_each_array(state.mesh, tree,
                          [&](const amr::Array& array) { count(setting_.steps, array.bytes()); });
  }

  void create(const std::string& path, MPI_Info) override { path_ = path; }
  void write() override {
    for (int step = 0; step < setting_.steps; ++step) {
      if (setting_.before_step) setting_.before_step();
      writer_ = amr::create_checkpoint(MPI_COMM_WORLD, way_,
                                       step == 0 ? path_ : fmt::format("{}.{}", path_, step), state_);
      writer_->put();
      if (step + 1 < setting_.steps) writer_->close();
    }
  }
  void close() override { writer_->close(); }

 private:
  Setting setting_;
  amr::State state_;
  amr::Way way_;
  std::string path_;
  std::unique_ptr<amr::CheckpointWriter> writer_;
};

}  // namespace

std::unique_ptr<Row> make_trees_row(const Setting& setting, bool tcio) {
  // Until the process ends, as what a row of it refers to.
  static std::optional<Kokkos::ScopeGuard> kokkos;
  static std::optional<AmrMesh> mesh;
  if (!kokkos) kokkos.emplace(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
  if (!mesh) mesh.emplace(setting);
  return std::make_unique<TreesRow>(setting, mesh->state(), tcio ? amr::Way::tcio : amr::Way::mpiio);
}

}  // namespace forebay::bench
