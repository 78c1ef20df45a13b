// `forebay stage`: what a folder has staged of files, and how it goes.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "commands.hpp"
#include "human.hpp"
#include "stage/stages.hpp"

namespace forebay::tools {
namespace {

std::string what_it_is(const FoundStage& stage) {
  if (stage.path.empty()) return "cannot be used: of another version or host, before a restart, or damaged";
  std::string text = fmt::format("{} of {}, {}", human_bytes(stage.staged), human_bytes(stage.size),
                                 stage.compact ? "compact" : "extent");
  if (stage.used) text += ", in use";
  if (!stage.current) text += ", not as the file is now";
  return text;
}

}  // namespace

int list_or_drop_stages(const StageOptions& options) {
  int failed = 0;
  for (const std::string& folder : options.folders) {
    std::vector<FoundStage> stages;
    Status status = list_stages(folder, stages);
    std::int64_t taken = 0;
    for (const FoundStage& each : stages) {
      taken += each.taken;
      fmt::print("{}\n  {}: {}{}\n", each.name, each.path.empty() ? "unknown" : each.path, what_it_is(each),
                 options.drop ? "; dropped" : "");
      if (options.drop) status.update(remove_stage(each.name));
    }
    if (status.ok())
      fmt::print("{}: {}, {}{}\n", folder,
                 counted(static_cast<std::int64_t>(stages.size()), "stage", "stages"), human_bytes(taken),
                 options.drop && !stages.empty() ? ", dropped" : "");
    if (status.ok()) continue;
    fmt::print(stderr, "forebay stage: {}\n", status.message());
    failed = 1;
  }
  return failed;
}

}  // namespace forebay::tools
