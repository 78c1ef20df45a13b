// Brings into a stage what a program will ask for next, while it computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "base/descriptor.hpp"
#include "layout/extent.hpp"
#include "stage/node_stage.hpp"

namespace forebay {

/// A thread, which handles no signal and calls no MPI. The advice that a system takes (posix_fadvise) would
/// cost none, but fills the page cache only, which not all file systems have, and not the stage.
class FetchAhead {
 public:
  /// `stage`: a view that nobody else uses, so that locks tell who is at a unit; `file`: of the file, to be
  /// read. `most`: bytes that may wait to be fetched.
  FetchAhead(std::unique_ptr<NodeStage> stage, Descriptor file, std::int64_t most);
  ~FetchAhead() { stop(); }
  FetchAhead(const FetchAhead&) = delete;
  FetchAhead& operator=(const FetchAhead&) = delete;

  /// The newest ones come when older ones have; where too much waits, the oldest are left out, and of one
  /// that is too long its end. Where there can be no thread, nothing happens.
  void want(std::span<const Extent> ranges);
  /// Waits until nothing waits; for tests.
  void wait();
  /// For good; what waits is left out.
  void stop();
  /// What has been fetched so far.
  StageTally tally();

 private:
  void run();

  std::unique_ptr<NodeStage> stage_;
  Descriptor descriptor_;
  std::unique_ptr<Storage> file_;
  std::int64_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Extent> waiting_;
  std::int64_t bytes_ = 0;  // of these
  StageTally tally_;
  bool stops_ = false, works_ = false;
  std::thread thread_;
};

}  // namespace forebay
