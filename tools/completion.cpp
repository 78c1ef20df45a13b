// Walks the tree of commands once for each shell.
#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/hints.hpp"

namespace forebay::tools {
namespace {

/// What may stand where a value is asked for.
enum class Value { none, file, folder, words, anything };

struct Opt {
  std::string name;  ///< "--stats"
  std::string description;
  std::string type;
  Value value = Value::none;
  std::vector<std::string> words;
};

struct Command {
  std::string name;
  std::string description;
  std::vector<Opt> options;
  bool becomes_program = false;  ///< what follows its options is a command of its own
  Value positional = Value::none;
  std::vector<std::string> positional_words;
};

std::vector<std::string> words_of_hint(std::string_view name) {
  std::vector<std::string> words;
  for (const HintSpec& hint : hint_table()) {
    if (hint.name != name) continue;
    std::string_view text = hint.values;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(" | "), text.size());
      words.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 3, text.size()));
    }
  }
  return words;
}

std::vector<std::string> hints() {
  std::vector<std::string> words;
  for (const HintSpec& hint : hint_table()) words.push_back(std::string(hint.name) + "=");
  return words;
}

/// By the word that stands for it in the help.
void take_type(const std::string& type, Value& value, std::vector<std::string>& words) {
  const auto has = [&](std::string_view part) { return type.find(part) != type.npos; };
  if (has("FOLDER") && !has("FILE"))
    value = Value::folder;
  else if (has("FILE") || has("WHAT") || has("PATH") || has("GLOB") || has("OUT") || has("CONFIG") ||
           has("A B"))
    value = Value::file;
  else if (has("MODE"))
    value = Value::words, words = words_of_hint("forebay_mode");
  else if (has("HINTS"))
    value = Value::words, words = hints();
  else if (has("KIND"))
    value = Value::words, words = words_of_hint("forebay_rounds");
  else if (has("SHELL"))
    value = Value::words, words = {"bash", "zsh", "fish"};
  else
    value = Value::anything;
}

void take_options(const CLI::App& app, Command& command) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      take_type(option->get_name(true), command.positional, command.positional_words);
      continue;
    }
    Opt opt{"--" + option->get_lnames().front(), option->get_description(), option->get_type_name(), {}, {}};
    if (option->get_items_expected_max() > 0 && option->get_type_size() > 0)
      take_type(opt.type, opt.value, opt.words);
    command.options.push_back(std::move(opt));
  }
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); }))
    take_options(*group, command);
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> list;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); })) {
    Command command{sub->get_name(), sub->get_description(), {}, sub->get_prefix_command(), Value::none, {}};
    take_options(*sub, command);
    list.push_back(std::move(command));
  }
  return list;
}

std::string joined(const std::vector<std::string>& words, const char* separator = " ") {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string names_of(const Command& command, const char* separator, bool with_value_only = false) {
  std::vector<std::string> names;
  for (const Opt& option : command.options) {
    if (!with_value_only || option.value != Value::none) names.push_back(option.name);
  }
  return joined(names, separator);
}

// ---- bash ----

std::string bash_value(Value value, const std::vector<std::string>& words) {
  switch (value) {
    case Value::file:
      return "_forebay_reply -f";
    case Value::folder:
      return "_forebay_reply -d";
    case Value::words:
      return "_forebay_reply -W '" + joined(words) + "'";
    default:
      return ":";
  }
}

std::string for_bash(const CLI::App& app) {
  const std::vector<Command> commands = commands_of(app);
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  std::string text = R"(# bash completion for forebay, made by `forebay completion bash`.
_forebay_reply() {
  [ "$1" = -W ] || compopt -o filenames 2>/dev/null
  case ${2-} in *=\ *|*=) compopt -o nospace 2>/dev/null ;; esac
  mapfile -t COMPREPLY < <(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}")
}
# Where the program begins behind run's or try's options: $1 are those that take a value.
_forebay_program() {
  local i=2
  while [ $i -lt "$COMP_CWORD" ]; do
    case ${COMP_WORDS[i]} in
      --) echo $((i + 1)); return ;;
      -*) case " $1 " in *" ${COMP_WORDS[i]} "*) i=$((i + 1)) ;; esac ;;
      *) echo $i; return ;;
    esac
    i=$((i + 1))
  done
  echo "$i"
}
_forebay() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
)";
  text += "    _forebay_reply -W '" + joined(names) +
          " --help --version'\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands) {
    text += "    " + command.name + ")\n";
    if (command.becomes_program) {
      text += "      local at\n      at=$(_forebay_program '" + names_of(command, " ", true) +
              "')\n"
              "      if [ \"$at\" -lt \"$COMP_CWORD\" ]; then\n"
              "        if declare -F _command_offset >/dev/null; then _command_offset \"$at\"; else "
              "_forebay_reply -f; fi\n"
              "        return\n      fi\n";
    }
    text += "      case $prev in\n";
    for (const Opt& option : command.options) {
      if (option.value != Value::none)
        text += "        " + option.name + ") " + bash_value(option.value, option.words) + "; return ;;\n";
    }
    text +=
        "      esac\n      case $cur in\n        -*) _forebay_reply -W '" + names_of(command, " ") + "' ;;\n";
    if (command.becomes_program)
      text += "        */*) _forebay_reply -f ;;\n        *) _forebay_reply -c ;;\n";
    else
      text += "        *) " + bash_value(command.positional, command.positional_words) + " ;;\n";
    text += "      esac ;;\n";
  }
  return text + "  esac\n}\ncomplete -F _forebay forebay\n";
}

// ---- zsh ----

/// Within '…' and, of _arguments, within […].
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'')
      safe += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      safe += std::string("\\") + c;
    else
      safe += c;
  }
  return safe;
}

std::string zsh_value(Value value, const std::vector<std::string>& words) {
  switch (value) {
    case Value::file:
      return "_files";
    case Value::folder:
      return "_files -/";
    case Value::words:
      // A hint goes on behind its '=', so no blank follows.
      return words.front().ends_with("=") ? "compadd -S \"\" - " + joined(words) : "(" + joined(words) + ")";
    default:
      return " ";
  }
}

std::string for_zsh(const CLI::App& app) {
  const std::vector<Command> commands = commands_of(app);
  std::string text =
      "#compdef forebay\n# zsh completion for forebay, made by `forebay completion zsh`.\n_forebay() {\n"
      "  local curcontext=$curcontext state line\n  local -a commands\n  commands=(\n";
  for (const Command& command : commands)
    text += "    '" + command.name + ":" + zsh_text(command.description) + "'\n";
  text +=
      "  )\n  _arguments -C '--help[print help]' '--version[print the version]' '1:command:->command' "
      "'*::argument:->arguments'\n  case $state in\n    command) _describe command commands ;;\n    "
      "arguments)\n"
      "      case $words[1] in\n";
  for (const Command& command : commands) {
    text += "        " + command.name + ") _arguments";
    for (const Opt& option : command.options) {
      text += " \\\n          '" + option.name + "[" + zsh_text(option.description) + "]";
      if (option.value != Value::none)
        text += ":" + zsh_text(option.type) + ":" + zsh_value(option.value, option.words);
      text += "'";
    }
    if (command.becomes_program)
      text += " \\\n          '(-)1:program:_files' '*::argument:_normal'";
    else if (command.positional != Value::none)
      text += " \\\n          '1:argument:" + zsh_value(command.positional, command.positional_words) + "'";
    text += " ;;\n";
  }
  return text + "      esac ;;\n  esac\n}\n_forebay \"$@\"\n";
}

// ---- fish ----

std::string fish_text(const std::string& text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe + "'";
}

std::string fish_value(Value value, const std::vector<std::string>& words) {
  switch (value) {
    case Value::file:
      return " -r -F";
    case Value::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Value::words:
      return " -x -a '" + joined(words) + "'";
    case Value::anything:
      return " -x";
    default:
      return "";
  }
}

std::string for_fish(const CLI::App& app) {
  std::string text =
      "# fish completion for forebay, made by `forebay completion fish`.\ncomplete -c forebay -f\n"
      "complete -c forebay -n __fish_use_subcommand -l help -d 'print help'\n"
      "complete -c forebay -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const Command& command : commands_of(app)) {
    text += "complete -c forebay -n __fish_use_subcommand -a " + command.name + " -d " +
            fish_text(command.description) + "\n";
    const std::string inside = "complete -c forebay -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const Opt& option : command.options)
      text += inside + " -l " + option.name.substr(2) + fish_value(option.value, option.words) + " -d " +
              fish_text(option.description) + "\n";
    if (command.becomes_program)
      text += inside + " -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
    else if (command.positional == Value::file)
      text += inside + " -F\n";
    else if (command.positional != Value::none)
      text += inside + fish_value(command.positional, command.positional_words) + "\n";
  }
  return text;
}

}  // namespace

std::string completion_for(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return for_bash(app);
  if (shell == "zsh") return for_zsh(app);
  if (shell == "fish") return for_fish(app);
  return {};
}

}  // namespace forebay::tools
