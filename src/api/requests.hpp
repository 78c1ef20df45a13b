// What a program asks for, checked, as the core wants it: cursors, sources and sinks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "forebay/file.h"
#include "request/memory_stream.hpp"
#include "request/piece_cursor.hpp"
#include "request/request.hpp"
#include "request/staged_sink.hpp"
#include "request/staged_source.hpp"
#include "request/strided.hpp"

namespace forebay::api {

/// The program's callbacks.
class CallbackMover final : public Mover {
 public:
  explicit CallbackMover(const forebay_stage& stage) : stage_(stage) {}
  bool begin(int slot, std::int64_t first, std::int64_t bytes, std::byte* staging) override {
    return stage_.begin(stage_.context, slot, first, bytes, staging) == 0;
  }
  bool finish(int slot) override { return stage_.finish(stage_.context, slot) == 0; }

 private:
  forebay_stage stage_;
};

/// A list of puts or of gets. Functions that say nothing else throw std::bad_alloc only.
class Requests {
 public:
  enum class Kind { put, get };

  explicit Requests(Kind kind) : kind_(kind) {}

  /// Adds what a call asks for: all, or, where a request is wrong or memory lacks, nothing. `what`: how the
  /// call names itself and the file. Of the requests only memory and staging are referred to.
  Status add(const forebay_request* requests, std::int64_t count, const std::string& what);

  bool empty() const { return puts_.empty() && gets_.empty(); }
  const std::vector<Put>& puts() const { return puts_; }
  const std::vector<Get>& gets() const { return gets_; }
  /// Where the last byte lies that any of them reaches.
  std::int64_t end() const { return end_; }

  /// Begins to stage what will be wanted first.
  void begin();
  /// Finishes all staging. Whether all callbacks did what they were asked to.
  bool settle();

 private:
  struct Part {
    std::optional<StridedCursor> box;
    std::optional<PieceListCursor> list;
    std::optional<MemorySource> source;
    std::optional<MemorySink> sink;
    std::optional<CallbackMover> mover;
    std::optional<StagedSource> staged_source;
    std::optional<StagedSink> staged_sink;
  };

  Status add_all(const forebay_request* requests, std::int64_t count);
  Status add_one(const forebay_request& request);
  static Status check_memory(const forebay_request& request);

  Kind kind_;
  std::deque<Part> parts_;  // stay where they are
  std::vector<Put> puts_;
  std::vector<Get> gets_;
  std::int64_t end_ = 0;
};

}  // namespace forebay::api
