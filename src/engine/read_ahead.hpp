// What collective reads of a staged file will ask for next is fetched by the ranks that will read it.
#pragma once

#include <cstdint>
#include <memory>

#include "layout/extent.hpp"
#include "stage/fetch_ahead.hpp"
#include "stage/steps.hpp"

namespace forebay {

struct FileContext;

class ReadAhead {
 public:
  explicit ReadAhead(std::unique_ptr<FetchAhead> fetches) : fetches_(std::move(fetches)) {}

  /// After a collective read. `together`, and its bytes: what all ranks wanted of each other; `own`: what
  /// this rank has read by itself. Each as a hull.
  void note(const FileContext& file, Extent together, std::int64_t bytes, Extent own, std::int64_t own_bytes);
  /// For good; what has been fetched.
  StageTally stop() {
    fetches_->stop();
    return fetches_->tally();
  }

 private:
  std::unique_ptr<FetchAhead> fetches_;
  Steps together_, own_;
};

}  // namespace forebay
