// forebay hints: the table in the code, for a terminal and as docs/hints.md.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/config_file.hpp"
#include "base/environment.hpp"
#include "base/hints.hpp"
#include "base/printable.hpp"
#include "commands.hpp"
#include "human.hpp"
#include "message.hpp"

namespace forebay::tools {
namespace {

/// `text` in lines of at most `width` characters, each after `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      result += '\n';
      column = 0;
    }
    result += column == 0 ? std::string(indent, ' ') : " ";
    result += word;
    column += (column == 0 ? 0 : 1) + word.size();
  }
  return result + '\n';
}

/// A table cell: a bar ends a cell, and names in the text are code.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

bool is_foreign(const HintSpec& hint) {
  return !std::string_view(hint.name).starts_with("forebay_");
}

void print_markdown_table(bool foreign) {
  fmt::print("| hint | values | default | meaning |\n|---|---|---|---|\n");
  for (const HintSpec& hint : hint_table()) {
    if (is_foreign(hint) != foreign) continue;
    const std::string value =
        hint.default_value.empty() ? std::string{} : fmt::format("`{}`", hint.default_value);
    fmt::print("| `{}` | {} | {} | {} |\n", hint.name, cell(hint.values), value, cell(hint.meaning));
  }
}

void print_markdown() {
  fmt::print(
      "<!-- Made by `forebay hints --markdown` from the list in src/base/settings.def; a test holds the two "
      "together. -->\n"
      "# Hints\n\n"
      "A hint is `key=value`; several are joined by `;`. Blanks around keys and values do not matter, and a "
      "value in double\n"
      "quotes may hold a `;`. Sizes take the suffixes k, m, g and t (powers of 1024).\n\n"
      "Hints come from, the later winning over the earlier:\n\n"
      "1. the program's `MPI_Info`; what cannot be followed there is reported (that of rank 0, whose hints "
      "hold for all) and left out;\n"
      "2. the program's call (`H5Pset_fapl_forebay`, HDF5's driver-config string);\n"
      "3. the file that `FOREBAY_CONFIG` names;\n"
      "4. the environment variable `FOREBAY_HINTS`, and `forebay run --hints`, which wins over it.\n\n"
      "In 2 to 4 an unknown key or a value that does not fit is an error, and the message names the keys "
      "that are near. Rank 0's\n"
      "values hold for all ranks of a file.\n\n");
  print_markdown_table(false);
  fmt::print(
      "\n## Hints by file\n\n"
      "A TOML file has rules; those that match a file's name apply in their order, the later over the "
      "earlier:\n\n"
      "```toml\n"
      "[[file]]\n"
      "match = [\"*.h5\", \"/scratch/*/restart/*\"]\n"
      "mode = \"strict\"          # any hint, with or without forebay_\n"
      "stripe_bytes = \"4m\"\n"
      "\n"
      "[[file]]\n"
      "match = \"log.nc\"\n"
      "enable = false           # the stock library writes it\n"
      "```\n\n"
      "A pattern (`fnmatch(3)`) without a slash is for the last part of the name, one with a slash for the "
      "whole of it, from the root on; `*` takes\n"
      "slashes, too. `forebay hints --check forebay.toml` checks the file, with `--for out.h5` it says which "
      "hints that file gets.\n");
  fmt::print(
      "\n## Names of other libraries\n\n"
      "These are understood as well; in `MPI_Info` the `forebay_*` name wins over them.\n\n");
  print_markdown_table(true);
  fmt::print(
      "\n## Environment variables\n\n"
      "| variable | meaning |\n|---|---|\n"
      "| `FOREBAY_HINTS` | hints, as above |\n"
      "| `FOREBAY_CONFIG` | a TOML file with hints by file, as above |\n"
      "| `FOREBAY_STATS` | file for the report; wins over `forebay_stats` |\n"
      "| `FOREBAY_TRACE` | file for the timeline, as `forebay_trace` |\n"
      "| `FOREBAY_ENABLE` | `off` leaves everything to the stock drivers; wins over `forebay_enable` |\n"
      "| `FOREBAY_VERBOSE` | `1` tells which driver each library runs on |\n"
      "| `FOREBAY_DROPIN` | folders, between colons, where `forebay run` looks first for what `forebay "
      "dropin` made |\n"
      "| `FOREBAY_LIBDIR` | folders, between colons, where the preloaded shim looks for the drivers; set by "
      "`forebay run` |\n"
      "| `FOREBAY_KEEPER_PROGRAM` | the path of `forebay-keeper`, for `forebay_keeper=start` in a program "
      "with the static PnetCDF driver; set by `forebay run` |\n\n"
      "Folders are whole paths, and nobody but you, root and their owner may be able to change what is in "
      "them: others are left out, and a line says so. Names that are nearly one of these, or a hint's "
      "(`FOREBAY_MODE`), are asked about.\n");
}

int check_hints(const HintsOptions& options) {
  const std::string name = options.config.empty() ? from_environment("FOREBAY_CONFIG") : options.config;
  ConfigFile config;
  if (!name.empty()) {
    if (const Status status = ConfigFile::read(name, config); !status.ok()) {
      complain(status.message());
      return exit_failed;
    }
  }
  Settings settings;
  config.apply(options.file, settings);
  if (const Status status = apply_environment(settings); !status.ok()) {
    complain(status.message());
    return exit_failed;
  }
  if (!options.file.empty()) {
    const std::string hints = format_hints(settings);
    fmt::print("{}: {}\n", printable(options.file), hints.empty() ? "the defaults" : hints);
  } else if (name.empty()) {
    fmt::print("The environment is right; FOREBAY_CONFIG names no file.\n");
  } else {
    fmt::print("{} is right: {}\n", printable(name),
               counted(static_cast<std::int64_t>(config.rules().size()), "rule", "rules"));
  }
  return 0;
}

}  // namespace

int print_hints(const HintsOptions& options) {
  if (options.markdown) {
    print_markdown();
    return 0;
  }
  if (options.check) return check_hints(options);
  for (const HintSpec& hint : hint_table()) {
    const std::string value = hint.default_value.empty() ? "none" : hint.default_value;
    fmt::print("{}\n    {}; default: {}\n{}", hint.name, hint.values, value, wrapped(hint.meaning, 4, 92));
  }
  return 0;
}

}  // namespace forebay::tools
