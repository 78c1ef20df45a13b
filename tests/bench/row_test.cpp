// What rows share: what is timed as the data of a program's row.
#include "row.hpp"

#include <gtest/gtest.h>

namespace forebay::bench {
namespace {

class LoggedRow final : public Row {
 public:
  explicit LoggedRow(std::string& log) : log_(log) { count(3, 7); }
  void create(const std::string& path, MPI_Info) override { log_ += "create " + path + ","; }
  void write() override { log_ += "write,"; }
  void close() override { log_ += "close"; }

 private:
  std::string& log_;
};

TEST(FromCreate, CreationIsAmongTheData) {
  std::string log;
  const std::unique_ptr<Row> row = from_create(std::make_unique<LoggedRow>(log));
  row->create("file", MPI_INFO_NULL);
  EXPECT_EQ(log, "");
  row->write();
  row->close();
  EXPECT_EQ(log, "create file,write,close");
  EXPECT_EQ(row->bytes(), 21);
  EXPECT_EQ(row->pieces(), 3);
}

}  // namespace
}  // namespace forebay::bench
