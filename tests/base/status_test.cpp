// What a user is told, and how often.
#include "base/status.hpp"

#include <gtest/gtest.h>

#include <string>

namespace forebay {
namespace {

TEST(Warnings, AFewOfAKindAndNoMore) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 9; ++i) warn_few("a put failed", "at " + std::to_string(i));
  warn_few("a read failed", "at 0");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "forebay: a put failed: at 0\nforebay: a put failed: at 1\nforebay: a put failed: at 2\n"
            "forebay: a put failed again; this process does not tell further ones\n"
            "forebay: a read failed: at 0\n");
}

TEST(Status, TheFirstFailureStaysAndSaysWhoseItIs) {
  Status status;
  status.update(Status::heard(Code::io, "rank 3: full"));
  status.update({Code::no_memory, "mine"});
  EXPECT_EQ(status.message(), "rank 3: full");
  EXPECT_TRUE(status.is_heard());
  EXPECT_FALSE(Status(Code::io, "mine").is_heard());
}

}  // namespace
}  // namespace forebay
