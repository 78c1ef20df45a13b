// Which file somebody else has opened under a name: what this process's descriptors say of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay {

/// A file, whatever it is called.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

/// False: there is none.
bool id_of(int descriptor, FileId& out);
bool id_at(const std::string& path, FileId& out);

/// Those of a file that this process has, whoever opened them.
std::vector<int> descriptors_of(const FileId& file);

/// Whether this process may open so many more; MPI-IO libraries need a few at a time, and wait for each other
/// for ever where one rank has none.
bool descriptors_left(int wanted);
inline constexpr int kDescriptorsToOpen = 3;  ///< what opening one file takes

/// Whether an MPI-IO library may take the name apart: ROMIO cuts "ufs:" and its like, Open MPI's own I/O
/// takes every name as it is.
bool may_have_prefix(const std::string& path);

/// The descriptors that this process has, noted before MPI-IO, or a library, opens a file by its name.
class BeforeOpen {
 public:
  explicit BeforeOpen(const std::string& path);

  struct Found {
    std::string name;     ///< under which the file lies; empty: it cannot be told
    FileId id;            ///< of what has that name
    int descriptor = -1;  ///< of the file, the opener's own and not for us to use but to ask about the file;
                          ///< -1: nobody is known to have opened what has that name
  };
  /// Afterwards: what was opened.
  Found find() const;

 private:
  std::string path_;
  int lowest_ = -1;          // free descriptor: the one that an open takes
  std::vector<int> before_;  // ascending, where the name alone does not tell
};

}  // namespace forebay
