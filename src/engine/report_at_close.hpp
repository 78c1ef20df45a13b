// The end of a file's life: every rank's counters gathered and handed to the report.
#pragma once

#include <cstdint>
#include <string>

#include "base/counters.hpp"
#include "base/settings.hpp"
#include "base/status.hpp"
#include "engine/node_set.hpp"
#include "storage/stored_file.hpp"

namespace forebay {

struct ReportFacts {
  std::string path;
  std::string driver;
  const Settings& settings;
  const StoredFile& file;
  std::int64_t stripe_bytes;
  std::int64_t round_bytes;
};

/// Collective; rank 0 writes. A report that cannot be written is no reason to fail a close: the caller warns.
Status report_at_close(const Communicator& ranks, const ReportFacts& facts, NodeSet& nodes,
                       const Counters& mine);

}  // namespace forebay
