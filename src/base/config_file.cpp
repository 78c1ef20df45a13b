#include "base/config_file.hpp"

#include <fnmatch.h>

#include <exception>
#include <filesystem>
#include <optional>

#include "base/edit_distance.hpp"
#include "base/environment.hpp"
#include "base/hints.hpp"

#ifdef FOREBAY_HAS_TOML
#include <toml++/toml.h>
#endif

namespace forebay {
namespace {

bool matches(const std::string& pattern, const std::string& whole, const std::string& last) {
  const std::string& name = pattern.find('/') == std::string::npos ? last : whole;
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

#ifdef FOREBAY_HAS_TOML
Status wrong(const std::string& path, const toml::node& at, const std::string& what) {
  return {Code::bad_hint, path + ", line " + std::to_string(at.source().begin.line) + ": " + what};
}

std::optional<std::string> text_of(const toml::node& value) {
  if (const auto text = value.value_exact<std::string>()) return *text;
  if (const auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = value.value_exact<bool>()) return std::string(*flag ? "on" : "off");
  return std::nullopt;
}

Status read_patterns(const std::string& path, const toml::node& value, ConfigFile::Rule& rule) {
  const auto add = [&](const toml::node& one) {
    const auto text = one.value_exact<std::string>();
    if (!text || text->empty()) return wrong(path, one, "a pattern of file names is a string");
    rule.patterns.push_back(*text);
    return Status();
  };
  const toml::array* const list = value.as_array();
  if (list == nullptr) return add(value);
  for (const toml::node& one : *list) {
    if (Status status = add(one); !status.ok()) return status;
  }
  return {};
}

Status read_rule(const std::string& path, const toml::table& table, ConfigFile::Rule& rule) {
  for (const auto& [key, value] : table) {
    if (key.str() == "match") {
      if (Status status = read_patterns(path, value, rule); !status.ok()) return status;
      continue;
    }
    if (edit_distance(key.str(), "match") <= 2)
      return wrong(path, value, "unknown key \"" + std::string(key.str()) + "\"; did you mean match?");
    const auto text = text_of(value);
    if (!text)
      return wrong(path, value,
                   "the value of " + std::string(key.str()) + " is a string, a number or a boolean");
    std::string name(key.str());
    Settings scratch;
    Status status = set_hint(scratch, "forebay_" + name, *text, Origin::command);
    if (status.ok()) {
      name.insert(0, "forebay_");
    } else if (Status as_it_is = set_hint(scratch, name, *text, Origin::call); as_it_is.ok()) {
      status = {};
    } else if (name.starts_with("forebay_")) {
      status = std::move(as_it_is);
    }
    if (!status.ok()) return wrong(path, value, status.message());
    rule.hints.emplace_back(std::move(name), *text);
  }
  if (rule.patterns.empty()) return wrong(path, table, "[[file]] has no match = \"pattern of file names\"");
  return {};
}
#endif

}  // namespace

#ifdef FOREBAY_HAS_TOML
Status ConfigFile::read(const std::string& path, ConfigFile& out) {
  try {
    const toml::table document = toml::parse_file(path);
    for (const auto& [key, value] : document) {
      const toml::array* const rules = value.as_array();
      if (key.str() != "file" || rules == nullptr || !rules->is_homogeneous(toml::node_type::table))
        return wrong(
            path, value,
            "'" + std::string(key.str()) + "' stands outside a rule; each rule begins with [[file]]");
      for (const toml::node& one : *rules) {
        Rule rule;
        if (Status status = read_rule(path, *one.as_table(), rule); !status.ok()) return status;
        out.rules_.push_back(std::move(rule));
      }
    }
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    return {Code::bad_hint, path + (line > 0 ? ", line " + std::to_string(line) : std::string()) + ": " +
                                std::string(error.description())};
  }
  return {};
}
#else
Status ConfigFile::read(const std::string& path, ConfigFile&) {
  return {Code::unsupported, "FOREBAY_CONFIG=" + path + ": this Forebay was built without a TOML library"};
}
#endif

void ConfigFile::apply(std::string_view file, Settings& settings) const {
  const std::filesystem::path given(file);
  std::error_code error;
  const std::string whole = std::filesystem::absolute(given, error).lexically_normal().string();
  const std::string last = given.filename().string();
  for (const Rule& rule : rules_) {
    bool match = false;
    for (const std::string& pattern : rule.patterns) match = match || matches(pattern, whole, last);
    if (!match) continue;
    for (const auto& [key, value] : rule.hints) (void)set_hint(settings, key, value, Origin::command);
  }
}

Status apply_config(std::string_view file, Settings& settings) {
  struct Once {
    ConfigFile config;
    Status status;
    Once() {
      if (const std::string path = from_environment("FOREBAY_CONFIG"); !path.empty())
        status = ConfigFile::read(path, config);
    }
  };
  static const Once once;
  if (once.status.ok()) once.config.apply(file, settings);
  return once.status;
}

}  // namespace forebay
