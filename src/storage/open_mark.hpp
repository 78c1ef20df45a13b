// Whether others may be writing a file: every file object that writes it leaves a mark on it, a lock of a
// byte far behind any end.
#pragma once

#include <cstdint>

namespace forebay {

/// Who completes a block writes bytes that nobody put to him: what others put there in the meantime would be
/// lost. Ranks of one file object see to that among themselves. Another object of the same file, on another
/// communicator or in another process, is seen by its mark; who makes one waits for blocks that are being
/// completed. Needs locks of open file descriptions (fcntl(2)), which end with the process.
class OpenMark {
 public:
  /// Numbers of file objects: the same on all ranks of one, and nobody else's, or nearly so.
  static std::int64_t any_number();

  /// `descriptor`: of this rank, which outlives this. `shows`: this rank's is the one that is locked. Again,
  /// for another descriptor: before anybody writes.
  void set(int descriptor, std::int64_t number, bool shows);
  int descriptor() const { return descriptor_; }

  /// While it lives, nobody else begins to write the file.
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

  int descriptor_ = -1;
  std::int64_t number_ = 0;
  bool shows_ = false;
  bool shown_ = false;
};

}  // namespace forebay
