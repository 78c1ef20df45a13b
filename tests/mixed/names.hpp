// Where files lie and how they are called when they are opened: names that a shell, a URL or an old MPI-IO
// would take for something else, relative names after chdir, and symbolic links.
#pragma once

#include <string>
#include <vector>

#include "../dice.hpp"

namespace mixed {

using test::Dice;

/// The folders of one program, and where this process is.
class Folders {
 public:
  /// `top`: absolute; `colons`: names with a colon are names of files to this MPI-IO.
  Folders(std::string top, bool colons) : top_(std::move(top)), colons_(colons), here_(top_) {}
  /// By one process.
  void make() const;
  void remove() const;
  /// Collective in that all draw the same: this process goes somewhere else.
  void go(Dice& dice, bool really);
  const std::string& here() const { return here_; }
  const std::string& top() const { return top_; }
  bool colons() const { return colons_; }
  static const std::vector<std::string>& names();

 private:
  std::string top_;
  bool colons_;
  std::string here_;
};

class Name {
 public:
  Name() = default;
  Name(Dice& dice, const Folders& folders, int number, const char* ending);
  /// The file itself, absolute.
  const std::string& real() const { return real_; }
  /// By one process, before the file is made: the link to it, and a file that the name might be cut to.
  void prepare() const;
  /// What to call it now.
  std::string draw(Dice& dice, const Folders& folders, bool relative) const;
  /// By one process at the end: whether what else lies there is as it was.
  void check_decoys() const;

 private:
  std::string real_, link_;
  std::vector<std::string> decoys_;
};

/// Whether MPI-IO takes "a:b" for the name of a file; collective over MPI_COMM_WORLD.
bool colons_belong_to_names(const std::string& folder);

}  // namespace mixed
