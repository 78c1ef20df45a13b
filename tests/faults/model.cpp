// A slow and obvious array.
#include "model.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace faults {

Model::Model() : elements_(std::size_t{kArrays} * kRows * kColumns, Element{0, 0, -1, -1, true}) {}

void Model::put(const Part& part, int who, bool sure) {
  for (int a = 0; a < kArrays; ++a) {
    for (int r = 0; r < part.rows; ++r) {
      for (int c = 0; c < part.columns; ++c) {
        const int row = part.first_row + r * part.row_step, column = part.first_column + c * part.column_step;
        Element& e = elements_[static_cast<std::size_t>((a * kRows + row) * kColumns + column)];
        const std::int32_t value = value_of(part.step, a, row, column);
        if (e.now != value) e.before = e.now;
        e = {value, e.before, part.step, who, sure};
      }
    }
  }
}

void Model::doubt(int step) {
  for (Element& e : elements_) e.sure = e.sure && e.step < step;
}

void Model::synced() {
  for (Element& e : elements_) e.who = -1;
}

// A failure may cut an element.
std::string Model::judge_element(std::size_t at, std::int32_t got) const {
  const Element& e = elements_[at];
  if (got == e.now) return {};
  bool of_both = !e.sure;
  for (int shift = 0; shift < 32 && of_both; shift += 8) {
    const auto byte = [&](std::int32_t v) { return (static_cast<std::uint32_t>(v) >> shift) & 0xff; };
    of_both = byte(got) == byte(e.now) || byte(got) == byte(e.before);
  }
  if (of_both) return {};
  const auto n = static_cast<int>(at);
  return "array " + std::to_string(n / (kRows * kColumns)) + ", row " + std::to_string(n / kColumns % kRows) +
         ", column " + std::to_string(n % kColumns) + " is of step " + std::to_string((got >> 24) - 1) +
         ", must be of step " + std::to_string(e.step) + (e.sure ? "" : " or older");
}

std::string Model::judge(const std::vector<std::int32_t>& got, int reader, bool all) const {
  int wrong = 0;
  std::string first;
  for (std::size_t at = 0; at < elements_.size(); ++at) {
    if (!all && elements_[at].who != -1 && elements_[at].who != reader) continue;
    if (std::string why = judge_element(at, got[at]); !why.empty() && wrong++ == 0) first = std::move(why);
  }
  return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong: " + first;
}

std::string Model::judge_file(const std::string& path, const Library& library) const {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "there is no file";
  std::vector<std::int32_t> got(elements_.size());
  for (int a = 0; a < kArrays; ++a) {
    constexpr std::size_t bytes = sizeof(std::int32_t) * kRows * kColumns;
    (void)!::pread(fd, got.data() + a * kRows * kColumns, bytes, library.offset(a));
  }
  ::close(fd);
  if (library.swaps()) {
    for (std::int32_t& v : got)
      v = static_cast<std::int32_t>(__builtin_bswap32(static_cast<std::uint32_t>(v)));
  }
  const std::string why = judge(got, -1, true);
  return why.empty() ? "" : "in the file " + why;
}

}  // namespace faults
