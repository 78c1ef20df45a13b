// Recorded decompositions: a CDF file that holds, for Dk, how many requests each recorded process made
// (Dk.nreqs), their offsets and lengths in elements in the order of processes, and the global shape
// (attribute Dk.dims).
#pragma once

#include <string>
#include <vector>

#include "classic_file.hpp"
#include "decomposition.hpp"

namespace forebay::bench {

class MapFile {
 public:
  // Throws std::runtime_error, with the file's name, where the file is not of that form.
  explicit MapFile(const std::string& path);

  int processes() const { return processes_; }

  // Deals the recorded processes out to `ranks` ranks: with fewer ranks, each takes the lists of several
  // neighbours, one after another; with more, a list is cut into parts of about as many pieces, and some
  // parts may be empty.
  std::vector<Decomposition> cut(int rank, int ranks) const;

 private:
  struct Recorded {
    std::string name;
    Shape shape;
    const ClassicFile::Variable* offsets = nullptr;
    const ClassicFile::Variable* lengths = nullptr;
    std::vector<std::int64_t> first;  // by process: where its list begins; one more than there are processes
  };

  Recorded read_decomposition(const std::string& name) const;
  [[noreturn]] void fail(const std::string& why) const;

  ClassicFile file_;
  int processes_ = 0;
  std::vector<Recorded> recorded_;
};

}  // namespace forebay::bench
