// Elements and records to bytes of the file.
#include "placement.hpp"

namespace forebay::pnc {

int Placement::find(const Variable& variable) {
  if (int err = file_.variables.locate(variable, begin_)) return err;
  record_stride_ = 0;
  return variable.is_record ? file_.variables.record_stride(record_stride_) : NC_NOERR;
}

Cursor* Placement::cursor_of(const Variable& variable, const Part& part) {
  const std::int64_t each = variable.element_bytes;
  if (part.list != nullptr) {
    PieceMapping mapping;
    mapping.base = begin_ + part.list_record * record_stride_;
    mapping.element_bytes = each;
    mapping.record_elements = variable.record_elements;
    mapping.record_stride_bytes = record_stride_;
    return &lists_.emplace_back(part.list, mapping);
  }
  const Block& block = part.block;
  loops_.clear();
  for (std::size_t i = 0; i < block.loops.size(); ++i) {
    const std::int64_t unit = i == 0 && block.over_records ? record_stride_ : each;
    loops_.push_back({block.loops[i].stride * unit, block.loops[i].count});
  }
  std::int64_t offset = begin_;
  if (variable.is_record) {
    offset += block.first / variable.record_elements * record_stride_ +
              block.first % variable.record_elements * each;
  } else {
    offset += block.first * each;
  }
  return &strided_.emplace_back(offset, 0, block.run * each, loops_);
}

}  // namespace forebay::pnc
