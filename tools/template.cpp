// One pass over the text, with the values around it on a stack.
#include "template.hpp"

#include <stdexcept>
#include <vector>

#include "base/printable.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;
using Scopes = std::vector<const json*>;

const json* find(const Scopes& scopes, const std::string& name) {
  if (name == ".") return scopes.back();
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if ((*scope)->is_object() && (*scope)->contains(name)) return &(**scope)[name];
  }
  return nullptr;
}

bool holds(const json* value) {
  if (value == nullptr || value->is_null()) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_string()) return !value->get_ref<const std::string&>().empty();
  return value->is_number() || !value->empty();
}

std::string text_of(const json* value) {
  if (value == nullptr) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

struct Tag {
  char kind = ' ';  // #, ^, /, {, or a value
  std::string name;
  std::size_t begin = 0, end = 0;  // in the text
};

Tag next_tag(std::string_view text, std::size_t from) {
  Tag tag;
  tag.begin = text.find("{{", from);
  if (tag.begin == text.npos) return tag;
  std::size_t at = tag.begin + 2;
  const char kind = at < text.size() ? text[at] : '\0';
  if (std::string_view("#^/{").find(kind) != std::string_view::npos) tag.kind = kind, ++at;
  const std::string_view close = tag.kind == '{' ? "}}}" : "}}";
  const std::size_t end = text.find(close, at);
  if (end == text.npos) throw std::runtime_error("a template's tag does not end");
  tag.name = text.substr(at, end - at);
  tag.end = end + close.size();
  return tag;
}

/// Behind the section's own end; `inner_end` is before it.
std::size_t end_of_section(std::string_view text, const Tag& open, std::size_t& inner_end) {
  int depth = 1;
  for (Tag tag = next_tag(text, open.end); tag.begin != text.npos; tag = next_tag(text, tag.end)) {
    if (tag.name != open.name) continue;
    if (tag.kind == '#' || tag.kind == '^') ++depth;
    if (tag.kind == '/' && --depth == 0) {
      inner_end = tag.begin;
      return tag.end;
    }
  }
  throw std::runtime_error("a template's section " + open.name + " does not end");
}

void fill(std::string_view text, Scopes& scopes, std::string& out) {
  std::size_t at = 0;
  for (Tag tag = next_tag(text, 0); tag.begin != text.npos; tag = next_tag(text, at)) {
    out += text.substr(at, tag.begin - at);
    at = tag.end;
    const json* const value = find(scopes, tag.name);
    if (tag.kind == ' ') out += html_text(text_of(value));
    if (tag.kind == '{') out += text_of(value);
    if (tag.kind != '#' && tag.kind != '^') continue;
    std::size_t inner_end = 0;
    const std::size_t behind = end_of_section(text, tag, inner_end);
    const std::string_view inner = text.substr(tag.end, inner_end - tag.end);
    at = behind;
    if (holds(value) != (tag.kind == '#')) continue;
    if (tag.kind == '#' && value->is_array()) {
      for (const json& element : *value) {
        scopes.push_back(&element);
        fill(inner, scopes, out);
        scopes.pop_back();
      }
      continue;
    }
    if (tag.kind == '#') scopes.push_back(value);
    fill(inner, scopes, out);
    if (tag.kind == '#') scopes.pop_back();
  }
  out += text.substr(at);
}

}  // namespace

std::string fill_template(std::string_view text, const json& values) {
  Scopes scopes{&values};
  std::string out;
  fill(text, scopes, out);
  return out;
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string script_json(const json& value) {
  std::string safe;
  for (const char c : value.dump(-1, ' ', false, json::error_handler_t::replace)) {
    // Only strings can have these.
    if (c == '<')
      safe += "\\u003c";
    else if (c == '>')
      safe += "\\u003e";
    else if (c == '&')
      safe += "\\u0026";
    else
      safe += c;
  }
  return safe;
}

}  // namespace forebay::tools
