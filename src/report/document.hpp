// The text of a document of reports. Each file has a slot in it, with room for its numbers to grow: what is
// added to a file, or behind the last one, is written in its place, whatever the document's length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report_json.hpp"

namespace forebay {

struct Document {
  Json head;  ///< "schema", "forebay", "host", "date", "command"
  std::vector<FileReport> files;
  Json totals = Json::object();
};

inline constexpr int schema_version = 2;

/// A document that this process begins. `command`: what is run; "": this process.
Document begin_document(const std::string& command);

/// Throws where `text` is none.
Document parse_document(const std::string& text);
std::string format_document(const Document& document);

/// Adds the report, to its file where that is known.
void add_to_document(Document& document, const FileReport& report);

/// How each document begins as we write it.
inline constexpr std::string_view document_head = "{\n  \"schema\": 2,\n";
/// What marks the end of the slots in one, and the beginning of the totals.
inline constexpr std::string_view totals_mark = "\n  ],\n  \"totals\": {";
/// What is behind the slots: the mark, the totals and the end.
std::string format_tail(const Json& totals);
Json parse_tail(std::string_view tail);

/// The slot of a report: from its line end on, at least `least` bytes.
std::string format_slot(const FileReport& report, std::size_t least = 0);
/// How each slot of this file begins.
std::string slot_key(const std::string& path, const std::string& driver);

/// One slot's place in a text.
struct Slot {
  std::string key;
  std::size_t begin = 0;
  std::size_t length = 0;
};
/// The slots of `text`, which begins with one and ends behind one.
std::vector<Slot> slots_in(std::string_view text);

}  // namespace forebay
