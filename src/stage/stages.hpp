// The folder in which a node has its stages: which there are, which one a file gets, and what makes room.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "stage/file_stamp.hpp"
#include "stage/node_stage.hpp"

namespace forebay {

struct StageWish {
  std::string folder;
  FileStamp file;
  std::int64_t stripe_bytes = 0;  ///< how the file is cut
  std::int64_t bytes = 0;  ///< for all stages of the folder; 0: half of what is free and of what they have
  StageKind kind = StageKind::automatic;
};

/// By one process of the node: the stage of that file, as it is now, which is there, or a new one. As long as
/// it has it, that stays, and the others find it by its name. A stage of what the file was before goes; where
/// room is short those go that nobody uses, what is of changed files first, then what was used least
/// recently. Of a file that may have changed in this moment it is a new one that nobody else finds.
Status find_stage(const StageWish& wish, std::unique_ptr<NodeStage>& out);

/// One that is in a folder, of this user.
struct FoundStage {
  std::string name;
  std::string path;  ///< of the file; empty: it cannot be used, by this version or since the machine's start
  std::int64_t size = 0;       ///< of the file
  std::int64_t staged = 0;     ///< bytes of the file that are there
  std::int64_t taken = 0;      ///< bytes that it takes in the folder
  std::int64_t promised = 0;   ///< bytes that it may take
  std::int64_t opened_at = 0;  ///< nanoseconds since 1970
  bool compact = false;
  bool used = false;     ///< a process has it open
  bool current = false;  ///< its file is what it was, and somebody may find it
};
Status list_stages(const std::string& folder, std::vector<FoundStage>& out);

/// Processes that have it open go on with it.
Status remove_stage(const std::string& name);

}  // namespace forebay
