// UTF-8, decoded strictly.
#include "base/printable.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay {
namespace {

struct Character {
  std::size_t bytes = 0;  ///< 0: not UTF-8
  std::uint32_t code = 0;
};

/// The character at the beginning of `text`, which is not empty. Overlong forms, surrogates and what lies
/// beyond Unicode are not UTF-8.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {bytes, code};
}

// C0, DEL and C1.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

void add_escaped(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char c : bytes) {
    if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
      continue;
    }
    const auto value = static_cast<unsigned char>(c);
    out += "\\x";
    out += digits[value >> 4];
    out += digits[value & 15];
  }
}

std::string escaped(std::string_view text, bool controls) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    const std::string_view bytes = text.substr(0, c.bytes > 0 ? c.bytes : 1);
    if (c.bytes == 0 || (controls && is_control(c.code)))
      add_escaped(out, bytes);
    else
      out += bytes;
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, true);
}

std::string as_utf8(std::string_view text) {
  return escaped(text, false);
}

}  // namespace forebay
