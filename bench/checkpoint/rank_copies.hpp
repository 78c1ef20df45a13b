// The least that keeping a checkpoint can take: each rank appends its bytes to a plain file of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forebay::bench {

class RankCopies {
 public:
  // An empty file in `folder`, which its owner removes. Throws std::runtime_error, as append() does.
  RankCopies(const std::string& folder, int rank);
  RankCopies(const RankCopies&) = delete;
  RankCopies& operator=(const RankCopies&) = delete;
  ~RankCopies();

  void append(std::int64_t bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

}  // namespace forebay::bench
