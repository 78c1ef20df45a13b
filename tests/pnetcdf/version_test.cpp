// Which PnetCDF releases the driver takes on.
#include "version.hpp"

#include <gtest/gtest.h>

namespace forebay::pnc {
namespace {

TEST(Version, ReleaseIsTheFirstWord) {
  EXPECT_EQ(release_of("1.14.0 of 10 Dec 2024"), "1.14.0");
  EXPECT_EQ(release_of("1.12.3"), "1.12.3");
  EXPECT_EQ(release_of(""), "");
}

TEST(Version, KnowsTheTableOfEachRelease) {
  for (const char* release : {"1.12.3", "1.12.4", "1.13.0", "1.13.1", "1.14.0", "1.14.1"})
    EXPECT_EQ(table_of(release), Table::v1_12) << release;
  for (const char* release : {"1.15.0", "1.15.1"}) EXPECT_EQ(table_of(release), Table::v1_15) << release;
}

TEST(Version, RefusesEverythingElse) {
  for (const char* release : {"", "1.12.2", "1.12", "1.11.9", "1.15.2", "1.16.0", "1.15.0-alpha",
                              "1.15.0-beta", "1.15.0.beta", "1.14.0-beta", "1.14.0.alpha", "1.14.x", "2.14.0",
                              "11.14.0", "1.140.0", "1.14.", "v1.14.0", "nonsense"})
    EXPECT_EQ(table_of(release), Table::none) << release;
}

}  // namespace
}  // namespace forebay::pnc
