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

std::unique_ptr<StockReport> StockReport::begin(const Communicator& ranks, bool opened,
                                                const Settings& settings, const std::string& path,
                                                const std::string& driver, const std::string& reason) {
  if (!ranks.all(opened && (ranks.rank() != 0 || !settings.stats.empty()))) return nullptr;
  auto report = std::make_unique<StockReport>();
  report->ranks_ = ranks.duplicate();
  report->stats_ = settings.stats;
  report->path_ = reported_path(path);
  report->driver_ = driver;
  report->reason_ = reason;
  return report;
}

void StockReport::end(std::int64_t put_bytes, std::int64_t get_bytes) {
  std::array<std::int64_t, 2> sums{put_bytes, get_bytes};
  ranks_->reduce(sums, Communicator::Op::sum);
  if (ranks_->rank() == 0) {
    const FileReport report = left_to_stock(path_, driver_, reason_, ranks_->size(), sums[0], sums[1]);
    if (const Status status = append_report(stats_, report); !status.ok()) warn_once(status.message());
  }
  ranks_.reset();
}

}  // namespace forebay
