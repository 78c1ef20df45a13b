// Shell completion, made of the commands and options as they are.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace forebay::tools {

/// The script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_for(const CLI::App& app, const std::string& shell);

}  // namespace forebay::tools
