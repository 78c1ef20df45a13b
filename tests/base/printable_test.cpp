// What is shown of names that hold anything.
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Printable, TextStaysText) {
  for (const char* text : {"", "plain \"quoted\" 'name' \\ ~", "Gr\xc3\xb6\xc3\x9f" "e \xe2\x80\xa6 \xf0\x9f\x8c\x8a"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(as_utf8(text), text);
  }
}

TEST(Printable, ControlCharactersAreNamed) {
  EXPECT_EQ(printable(std::string_view("a\nb\tc\0d\x1b[2J\x7f", 12)), "a\\nb\\tc\\x00d\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc2\x9b" "31m"), "\\xc2\\x9b31m") << "a terminal takes it for ESC [";
  EXPECT_EQ(as_utf8("a\n\x1b"), "a\n\x1b");
}

TEST(Printable, WhatIsNotUtf8IsNamedByteByByte) {
  EXPECT_EQ(printable("\xff" "a\x80"), "\\xffa\\x80");
  EXPECT_EQ(as_utf8("\xc3"), "\\xc3");                      // cut short
  EXPECT_EQ(as_utf8("\xc0\xaf"), "\\xc0\\xaf");             // overlong
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");    // a surrogate
  EXPECT_EQ(as_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(as_utf8("\xe2\x80z"), "\\xe2\\x80z");
}

}  // namespace
}  // namespace forebay
