// Address space whose pages come with their first use, and stay for whoever needs as much next.
#pragma once

#include <cstddef>

namespace forebay {

/// `size` bytes. The touched pages of one that ends are kept for the next of the same size in this process: a
/// program writes file after file, and a page's first use costs more than all that is done with it.
class Arena {
 public:
  /// Throws std::bad_alloc.
  explicit Arena(std::size_t size);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::byte* memory() const { return memory_; }

 private:
  std::byte* memory_;
  std::size_t size_;
};

}  // namespace forebay
