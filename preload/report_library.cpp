// libforebay_report.so: what the shim has written into the report (report.cpp).
#include <filesystem>
#include <string>

#include "base/hints.hpp"
#include "report/report.hpp"

/// 0 where the entry was written, or none is wanted. No exception leaves it.
extern "C" __attribute__((visibility("default"))) int forebay_report_stock(const char* path,
                                                                           const char* driver,
                                                                           const char* reason, int ranks) {
  try {
    forebay::Settings settings;
    (void)forebay::apply_environment(settings);
    if (settings.stats.empty()) return 0;
    std::error_code error;
    const std::string full = std::filesystem::absolute(path, error).lexically_normal().string();
    const forebay::Status status = append_report(
        settings.stats, forebay::left_to_stock(error ? path : full, driver, reason, ranks, 0, 0));
    if (!status.ok()) forebay::warn_once(status.message());
    return status.ok() ? 0 : -1;
  } catch (...) {
    return -1;
  }
}
