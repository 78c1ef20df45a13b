// Level 1 of the gathering: this rank's pending requests of one file, over all its datasets and over many
// calls.
#pragma once

#include <memory>
#include <vector>

#include "request/put.hpp"

namespace forebay {

/// A request as the pool owns it.
struct PooledRequest {
  std::unique_ptr<Cursor> cursor;
  std::unique_ptr<Source> source;
  std::unique_ptr<std::byte[]> bytes;  ///< what the source reads, where it is a copy of ours; else null
  std::int64_t own_bytes = 0;          ///< size of `bytes`
  std::int64_t user_bytes =
      0;  ///< bytes of the caller's own buffer that must stay as they are until the flush
};

/// Requests keep program order, and are taken out all together or one by one, in a time that does not grow
/// with the others.
class Pool {
 public:
  using Id = std::int64_t;

  /// Appends a request; ids ascend and are never used again.
  Id add(PooledRequest request);

  /// The request, or null when it was never there or is no more.
  PooledRequest* find(Id id);

  std::size_t size() const { return entries_.size() - gone_; }
  bool empty() const { return size() == 0; }
  /// Bytes of copies that the pool holds, and bytes that callers keep for it.
  std::int64_t own_bytes() const { return own_bytes_; }
  std::int64_t user_bytes() const { return user_bytes_; }

  /// What a flush works on, in program order: all requests, or those of `ids` (unknown ones are passed over,
  /// one named twice counts once). The pool goes on owning them: remove them after the flush.
  std::vector<Put> puts() const;
  std::vector<Put> puts(std::span<const Id> ids) const;

  /// Drops requests; returns how many there were.
  std::size_t remove(std::span<const Id> ids);
  void clear();

 private:
  struct Entry {
    Id id;
    PooledRequest request;  // without a cursor: gone
  };
  std::size_t index_of(Id id) const;  // entries_.size() when there is none

  std::vector<Entry> entries_;  // ids ascend
  std::size_t gone_ = 0;
  Id next_id_ = 1;
  std::int64_t own_bytes_ = 0;
  std::int64_t user_bytes_ = 0;
};

}  // namespace forebay
