// What forebay doctor quotes of a trial that failed.
#include "doctor_probe.hpp"

#include <gtest/gtest.h>

#include <string>

namespace forebay::tools {
namespace {

using std::string_literals::operator""s;

TEST(reason_in, takes_the_lines_of_forebay_first) {
  EXPECT_EQ(reason_in("probe: create\nforebay: one\nother\nforebay: two\n"), "one; two");
}

TEST(reason_in, takes_the_line_of_the_probe_before_a_banner) {
  const std::string dashes(74, '-');
  EXPECT_EQ(reason_in(dashes + "\nMPI_ABORT was invoked\n" + dashes + "\nprobe: create: failed\n"),
            "probe: create: failed");
}

TEST(reason_in, takes_the_cause_from_the_first_banner) {
  const std::string dashes(74, '-');
  EXPECT_EQ(
      reason_in(dashes + "\nThere is not enough space for /dev/shm/x (the\nfile).\n\n  Local host:  vm\n" +
                dashes + "\n\0"s + dashes + "\nNo device.\n" + dashes + "\n\0"s),
      "There is not enough space for /dev/shm/x (the file).");
}

TEST(reason_in, takes_the_last_line_without_a_banner) {
  EXPECT_EQ(reason_in("one\ntwo\n\n"), "two");
  EXPECT_EQ(reason_in(""), "");
}

}  // namespace
}  // namespace forebay::tools
