// From start, count and stride to runs and loops over a variable's elements, numbered row by row.
#include "selection.hpp"

namespace forebay::pnc {
namespace {

// Boxes of more rows than this stay boxes.
constexpr std::int64_t max_rows_in_list = 8;

// True when the record before `records` has bytes beyond what a file offset can tell.
bool is_beyond_any_file(const Variable& variable, std::int64_t records) {
  std::int64_t bytes = 0;
  return __builtin_mul_overflow(records, variable.record_elements, &bytes) ||
         __builtin_mul_overflow(bytes, variable.element_bytes, &bytes);
}

bool is_far(std::int64_t record) {
  return record >= std::int64_t{1} << 32;
}

// A box in a variable: runs of `run` elements, `rows` of them, over the dimensions before `outer`.
struct Box {
  std::int64_t run = 1;
  std::size_t outer = 0;
  std::int64_t rows = 1;
};

// The innermost dimensions that are taken whole, and the one outside them, are one run. With `across_records`
// a run may go on in the next record.
Box box_of(const Variable& variable, Index count, bool across_records) {
  Box box;
  const std::size_t lowest = variable.is_record && !across_records ? 1 : 0;
  std::size_t d = variable.dims();
  while (d > lowest && box.run == variable.pitch[d - 1]) box.run *= count[--d];
  box.outer = d;
  while (d-- > 0) box.rows *= count[d];
  return box;
}

Block block_of(const Variable& variable, std::int64_t first, Index count, Index stride) {
  Block block;
  block.first = first;
  block.run = 1;
  const std::size_t lowest = variable.is_record ? 1 : 0;
  std::size_t d = variable.dims();
  while (d > lowest && block.run == variable.pitch[d - 1] &&
         (stride == nullptr || stride[d - 1] == 1 || count[d - 1] == 1))
    block.run *= count[--d];
  for (std::size_t outer = 0; outer < d; ++outer) {
    if (count[outer] == 1) continue;
    if (variable.is_record && outer == 0) block.over_records = true;
    const std::int64_t step = stride == nullptr ? 1 : stride[outer];
    block.loops.push_back(
        {variable.is_record && outer == 0 ? step : step * variable.pitch[outer], count[outer]});
  }
  return block;
}

std::int64_t first_element(const Variable& variable, Index start) {
  std::int64_t first = 0;
  for (std::size_t d = 0; d < variable.dims(); ++d) first += start[d] * variable.pitch[d];
  return first;
}

void reach(Selection& selection, const Variable& variable, std::int64_t records,
           std::int64_t element_in_last) {
  if (!variable.is_record || records <= selection.records) return;
  selection.records = records;
  selection.last_element = element_in_last;
}

}  // namespace

int select_block(const Variable& variable, Index start, Index count, Index stride, Selection& selection) {
  selection = {};
  selection.elements = 1;
  for (std::size_t d = 0; d < variable.dims(); ++d) selection.elements *= count[d];
  if (selection.elements == 0) return NC_NOERR;
  if (variable.is_record) {
    const std::int64_t steps = (count[0] - 1) * (stride == nullptr ? 1 : stride[0]);
    const std::int64_t records = start[0] + steps + 1;
    if (is_far(records) && is_beyond_any_file(variable, records)) return NC_EINTOVERFLOW;
    reach(selection, variable, records, first_element(variable, start) + steps * variable.record_elements);
  }
  selection.parts.emplace_back();
  selection.parts.back().block = block_of(variable, first_element(variable, start), count, stride);
  return NC_NOERR;
}

void ListSelector::finish_list(Selection& selection, std::int64_t record) {
  const std::int64_t elements = builder_.elements();
  if (elements == 0) return;
  Part& part = selection.parts.emplace_back();
  part.stream_first = selection.elements;
  part.list = cache_.share(builder_.finish());
  part.list_record = record;
  selection.elements += elements;
}

int ListSelector::select(const Variable& variable, int pieces, IndexList starts, IndexList counts,
                         Selection& selection) {
  selection = {};
  (void)builder_.finish();  // what an earlier call may have left when it failed
  if (pieces <= 0) return NC_NOERR;
  // Lists count from their first record, so that those of different records can be equal.
  std::int64_t record = 0;
  if (variable.is_record) {
    record = starts[0][0];
    for (int i = 1; i < pieces; ++i) record = starts[i][0] < record ? starts[i][0] : record;
  }
  const std::int64_t base = record * variable.record_elements;

  for (int i = 0; i < pieces; ++i) {
    const Index start = starts[i];
    const Index count = counts == nullptr ? nullptr : counts[i];
    if (variable.is_record && is_far(start[0])) {
      if (is_beyond_any_file(variable, start[0] + (count == nullptr ? 1 : count[0]))) return NC_EINTOVERFLOW;
    }
    const std::int64_t first = first_element(variable, start) - base;
    if (count == nullptr) {
      builder_.add(first, 1);
      reach(selection, variable, start[0] + 1, base + first);
      continue;
    }
    const Box box = box_of(variable, count, true);
    if (box.run * box.rows == 0) continue;
    reach(selection, variable, start[0] + count[0], base + first + (count[0] - 1) * variable.record_elements);
    if (box.rows == 1) {
      builder_.add(first, box.run);
    } else if (box.rows <= max_rows_in_list) {
      for (std::int64_t row = 0; row < box.rows; ++row) {
        std::int64_t offset = first;
        std::int64_t rest = row;
        for (std::size_t d = box.outer; d-- > 0;) {
          offset += rest % count[d] * variable.pitch[d];
          rest /= count[d];
        }
        builder_.add(offset, box.run);
      }
    } else {
      finish_list(selection, record);
      Part& part = selection.parts.emplace_back();
      part.stream_first = selection.elements;
      part.block = block_of(variable, base + first, count, nullptr);
      selection.elements += box.run * box.rows;
    }
  }
  finish_list(selection, record);
  return NC_NOERR;
}

}  // namespace forebay::pnc
