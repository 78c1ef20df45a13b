// Whether others on this machine may be writing a file: every file object that writes it leaves a mark.
#pragma once

#include <cstdint>

#include "storage/descriptors.hpp"

namespace forebay {

/// By its mark a file object that may be writing is seen by others of the same file, on another communicator
/// or in another process of this machine; who makes one waits for blocks that are being completed. Marks are
/// locks of open file descriptions (fcntl(2)), which end with the process, of bytes of the folder /dev/shm
/// that stand for the file.
class OpenMark {
 public:
  OpenMark() = default;
  ~OpenMark() { release(); }
  OpenMark(const OpenMark&) = delete;
  OpenMark& operator=(const OpenMark&) = delete;

  /// Numbers of file objects: the same on all ranks of one, and nobody else's, or nearly so.
  static std::int64_t any_number();

  /// On every rank of an object, before it writes. Once; again is nothing.
  void leave(const FileId& file, std::int64_t number);
  /// When no rank of the object writes any more.
  void release();

  /// While it lives, nobody else on this machine begins to write the file.
  class Alone {
   public:
    explicit Alone(const OpenMark& mark);
    ~Alone();
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
    /// False: there are others, or it cannot be told.
    bool certain() const { return certain_; }

   private:
    const OpenMark& mark_;
    bool held_ = false;
    bool certain_ = false;
  };

 private:
  bool free_of_others() const;

  std::int64_t first_ = -1;  // byte of the file's
  std::int64_t number_ = 0;
};

}  // namespace forebay
