// A library of its own writes reports, loaded only where one is written: the shim has the C library alone.
#include "report.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver.hpp"
#include "say.hpp"

namespace forebay::preload {
namespace {

using ReportStock = int (*)(const char* path, const char* driver, const char* reason, int ranks);

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

ReportStock load() {
  static bool tried = false;
  static ReportStock function = nullptr;
  if (tried) return function;
  tried = true;
  char path[PATH_MAX];
  Reason reason;
  void* handle =
      find_driver("libforebay_report.so", path, reason) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (handle != nullptr) function = reinterpret_cast<ReportStock>(dlsym(handle, "forebay_report_stock"));
  if (function == nullptr) {
    const char* error = *reason.text != '\0' && handle == nullptr ? reason.text : dlerror();
    say("files on the stock driver are missing in the report: %s",
        error != nullptr ? error : "no such library");
  }
  return function;
}

}  // namespace

bool report_wanted() {
  const char* stats = getenv("FOREBAY_STATS");
  if (stats != nullptr && *stats != '\0') return true;
  const char* hints = getenv("FOREBAY_HINTS");
  return hints != nullptr && strstr(hints, "forebay_stats") != nullptr;
}

Ranks ranks_of(void* library, uintptr_t comm) {
  Ranks ranks;
  int rank = 0;
  if (comm == 0 || !rank_in(library, comm, rank, ranks.count)) return {first_by_launcher(), 1};
  ranks.first = rank == 0;
  return ranks;
}

void report_stock(const char* path, const char* driver, const char* reason, const Ranks& ranks) {
  if (!ranks.first || path == nullptr || !report_wanted()) return;
  pthread_mutex_lock(&mutex);
  if (const ReportStock function = load()) function(path, driver, reason, ranks.count);
  pthread_mutex_unlock(&mutex);
}

}  // namespace forebay::preload
