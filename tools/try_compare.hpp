// What two runs of one program wrote, held against each other.
#pragma once

#include <string>
#include <vector>

namespace forebay::tools {

enum class Alike {
  bytes,      ///< byte for byte
  contents,   ///< other bytes that hold the same: HDF5's time stamps, bytes that nobody wrote
  different,  ///< or only one of them is there
  unknown     ///< other bytes, and no tool that compares all contents is here; or a folder is closed
};

struct FileVerdict {
  std::string name;  ///< below the folder
  Alike alike = Alike::bytes;
  std::string why;  ///< where it is not `bytes`
  long long bytes = 0;
};

/// All regular files below the two folders, by name, as far as no signal comes. Symbolic links are inputs and
/// are passed over.
std::vector<FileVerdict> compare_folders(const std::string& a, const std::string& b);

}  // namespace forebay::tools
