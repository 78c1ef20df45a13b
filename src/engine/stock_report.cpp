// Sums of bytes, and rank 0's entry in the report.
#include "engine/stock_report.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>

#include "base/status.hpp"
#include "report/report.hpp"
#include "storage/descriptors.hpp"

namespace forebay {

std::string reported_path(const std::string& path, int descriptor) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (descriptor >= 0 && may_have_prefix(path)) {
    const fs::path name = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
    if (!error && fs::exists(name, error)) return name.string();
  }
  const fs::path full = fs::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

std::unique_ptr<StockReport> StockReport::begin(MPI_Comm comm, bool opened, const Settings& settings,
                                                const std::string& path, const std::string& driver,
                                                const std::string& reason) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  int wanted = opened && (rank != 0 || !settings.stats.empty()) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_MIN, comm);
  if (wanted == 0) return nullptr;
  auto report = std::make_unique<StockReport>();
  MPI_Comm_dup(comm, report->comm_.address());
  report->stats_ = settings.stats;
  report->path_ = reported_path(path);
  report->driver_ = driver;
  report->reason_ = reason;
  return report;
}

void StockReport::end(std::int64_t put_bytes, std::int64_t get_bytes) {
  std::array<std::int64_t, 2> bytes{put_bytes, get_bytes};
  std::array<std::int64_t, 2> sums{};
  MPI_Reduce(bytes.data(), sums.data(), 2, MPI_INT64_T, MPI_SUM, 0, comm_.get());
  if (mpi::rank(comm_.get()) == 0) {
    const FileReport report =
        left_to_stock(path_, driver_, reason_, mpi::size(comm_.get()), sums[0], sums[1]);
    if (const Status status = append_report(stats_, report); !status.ok()) warn_once(status.message());
  }
  comm_.reset();
}

}  // namespace forebay
