// Computes before each checkpoint and after the last, and once without any.
#include "checkpoint_row.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "mpi_main.hpp"
#include "plain_writes.hpp"
#include "rank_copies.hpp"
#include "stopwatch.hpp"

namespace forebay::bench {
namespace {

class CheckpointRow final : public Row {
 public:
  CheckpointRow(const Setting& setting, const CheckpointPlan& plan, std::int64_t sweeps,
                const std::function<std::unique_ptr<Row>(const Setting&)>& make)
      : rank_(setting.rank), checkpoints_(plan.checkpoints), sweeps_(sweeps), log_(plan.log), compute_(comm) {
    Setting mine = setting;
    mine.steps = checkpoints_;
    mine.before_step = [this] { compute_.run(sweeps_); };
    row_ = make(mine);
    tally(row_->pieces(), row_->bytes());
  }

  void create(const std::string& path, MPI_Info info) override {
    path_ = path;
    info_ = info;
    const Stopwatch timed(comm);
    if (sweeps_ == 0) {
      measured_["sweep_s"] = compute_.seconds_of_a_sweep();
      measured_["plain_s"] = plain_seconds(timed);
      return;
    }
    compute_.run(1);
    measured_["computing_s"] = timed([&] {
      for (int i = 0; i <= checkpoints_; ++i) compute_.run(sweeps_);
    });
    if (log_.empty()) return;
    RankCopies copies(log_, rank_);
    measured_["copy_s"] = timed([&] {
      for (int i = 0; i < checkpoints_; ++i) copies.append(bytes() / checkpoints_);
    });
  }
  void write() override {
    row_->create(path_, info_);
    row_->write();
  }
  // A drain of the last checkpoint has a computation, too.
  void close() override {
    compute_.run(sweeps_);
    row_->close();
  }
  std::map<std::string, double> measured() const override { return measured_; }

 private:
  const MPI_Comm comm = MPI_COMM_WORLD;

  double plain_seconds(const Stopwatch& timed) const {
    std::array<double, 3> took{};
    const std::string path = path_ + ".plain";
    for (double& one : took) {
      PlainWrites plain(sum(bytes(), comm) / checkpoints_, comm);
      plain.create(path);
      one = timed([&] {
        plain.write();
        plain.close();
      });
      if (rank_ == 0) std::filesystem::remove(path);
      MPI_Barrier(comm);
    }
    std::sort(took.begin(), took.end());
    return took[1];
  }

  int rank_, checkpoints_;
  std::int64_t sweeps_;
  std::string log_, path_;
  MPI_Info info_ = MPI_INFO_NULL;
  Computation compute_;
  std::unique_ptr<Row> row_;
  std::map<std::string, double> measured_;
};

}  // namespace

std::unique_ptr<Row> make_checkpoint_row(const std::string& name, const Setting& setting,
                                         const CheckpointPlan& plan,
                                         const std::function<std::unique_ptr<Row>(const Setting&)>& make) {
  const auto found = plan.sweeps.find(name);
  return std::make_unique<CheckpointRow>(setting, plan, found == plan.sweeps.end() ? 0 : found->second, make);
}

}  // namespace forebay::bench
