// Slots and what is around them.
#include "report/document.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/printable.hpp"
#include "forebay/version.h"

namespace forebay {
namespace {

// A report has four spaces before its braces, and what is in it more.
constexpr std::string_view slot_begin = "\n    {\n      \"path\": ";
constexpr std::string_view slot_end = "\n    }";

std::string indented(const Json& json, std::size_t blanks) {
  std::string text;
  for (const char c : text_of(json)) {
    text += c;
    if (c == '\n') text.append(blanks, ' ');
  }
  return text;
}

// The numbers of a file that is opened again grow by some digits.
std::size_t room_for(std::size_t length) {
  constexpr std::size_t unit = 512, spare = 192;
  return (length + spare + unit - 1) / unit * unit;
}

std::string own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace

std::string format_tail(const Json& totals) {
  return "\n  ],\n  \"totals\": " + indented(totals, 2) + "\n}\n";
}

Json parse_tail(std::string_view tail) {
  const std::size_t begin = tail.find('{');
  const std::size_t end = tail.rfind("\n}");
  if (begin == tail.npos || end == tail.npos) throw std::runtime_error("the totals are missing");
  return Json::parse(tail.substr(begin, end - begin));
}

std::string format_slot(const FileReport& report, std::size_t least) {
  std::string text = "\n    " + indented(to_json(report), 4);
  const std::size_t length = least >= text.size() ? least : room_for(text.size());
  text.append(length - text.size(), ' ');
  return text;
}

std::string slot_key(const std::string& path, const std::string& driver) {
  return std::string(slot_begin) + text_of(Json(as_utf8(path))) +
         ",\n      \"driver\": " + text_of(Json(driver)) + ",\n";
}

std::vector<Slot> slots_in(std::string_view text) {
  std::vector<Slot> slots;
  for (std::size_t begin = text.find(slot_begin); begin != text.npos;) {
    const std::size_t brace = text.find(slot_end, begin);
    if (brace == text.npos) break;
    const std::size_t end = std::min(text.find_first_not_of(' ', brace + slot_end.size()), text.size());
    const std::size_t line = text.find('\n', begin + slot_begin.size());
    const std::size_t key = text.find('\n', line + 1) + 1;
    slots.push_back({std::string(text.substr(begin, key - begin)), begin, end - begin});
    begin = text.find(slot_begin, end);
  }
  return slots;
}

Document begin_document(const std::string& command) {
  Document document;
  const FileReport here = left_to_stock("", "", "", 1, 0, 0);  // for host and date
  document.head = {{"schema", schema_version},
                   {"forebay", FOREBAY_VERSION},
                   {"host", as_utf8(here.host)},
                   {"date", here.date},
                   {"command", as_utf8(command.empty() ? own_command() : command)}};
  FileReport none;
  none.opens = 0;
  document.totals = totals_of(none, false);
  return document;
}

Document parse_document(const std::string& text) {
  Json json = Json::parse(text);
  if (!json.is_object() || json.at("schema") != schema_version || !json.at("files").is_array())
    throw std::runtime_error("no report");
  Document document;
  for (const Json& file : json.at("files")) document.files.push_back(from_json(file));
  document.totals = json.at("totals");
  json.erase("files");
  json.erase("totals");
  document.head = std::move(json);
  return document;
}

std::string format_document(const Document& document) {
  std::string text = text_of(document.head);
  text.resize(text.rfind('\n'));
  text += ",\n  \"files\": [";
  for (std::size_t i = 0; i < document.files.size(); ++i) {
    if (i > 0) text += ',';
    text += format_slot(document.files[i]);
  }
  return text + format_tail(document.totals);
}

void add_to_document(Document& document, const FileReport& report) {
  const auto known = std::find_if(document.files.begin(), document.files.end(), [&](const FileReport& file) {
    return file.facts.path == as_utf8(report.facts.path) && file.facts.driver == report.facts.driver;
  });
  if (known == document.files.end() && report.opens == 0) return;
  add_totals(document.totals, totals_of(report, known == document.files.end()));
  if (known == document.files.end())
    document.files.push_back(report);
  else
    fold(*known, report);
}

}  // namespace forebay
