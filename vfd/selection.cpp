// Asking HDF5 about selections.
#include "selection.hpp"

#include <algorithm>

#include "library.hpp"

namespace forebay::hdf5 {

std::int64_t Shape::begin() const {
  std::int64_t index = 0;
  for (int d = 0; d < rank; ++d) index += low[d] * pitch[d];
  return index;
}

std::int64_t Shape::end() const {
  std::int64_t index = 0;
  for (int d = 0; d < rank; ++d) index += (low[d] + size[d] - 1) * pitch[d];
  return index + 1;
}

namespace {

constexpr hsize_t kNoIndex = HSIZE_UNDEF;

// Each question takes as long as a fiftieth of a small write, by HDF5's public functions.
struct Asked {
  H5S_sel_type type = H5S_SEL_NONE;
  std::int64_t elements = 0;
  // Of what selects something, and not all:
  std::array<hsize_t, H5S_MAX_RANK> low;
  std::array<hsize_t, H5S_MAX_RANK> high;

  bool one_dimension() const { return low[1] == kNoIndex; }
};

Status not_told() {
  return {Code::bad_argument, "HDF5 does not tell what is selected in a dataspace"};
}

const ApiContext& library() {
  static const ApiContext& found = []() -> const ApiContext& {
    const ApiContext* context = nullptr;
    (void)api_context(context);
    return *context;
  }();
  return found;
}

Status ask(hid_t space, Asked& asked) {
  asked.low[1] = kNoIndex;
  const ApiContext& hdf5 = library();
  if (const void* const object = hdf5.get_select_type != nullptr ? hdf5.object_of(space) : nullptr;
      object != nullptr) {
    asked.type = hdf5.get_select_type(object);
    asked.elements = hdf5.get_select_npoints(object);
    if (asked.elements < 0) return not_told();
    if (asked.elements == 0 || asked.type == H5S_SEL_ALL) return {};
    return hdf5.get_select_bounds(object, asked.low.data(), asked.high.data()) < 0 ? not_told() : Status{};
  }
  asked.type = H5Sget_select_type(space);
  const hssize_t elements = H5Sget_select_npoints(space);
  if (asked.type == H5S_SEL_ERROR || elements < 0) return not_told();
  asked.elements = elements;
  if (elements == 0 || asked.type == H5S_SEL_ALL) return {};
  return H5Sget_select_bounds(space, asked.low.data(), asked.high.data()) < 0 ? not_told() : Status{};
}

Status describe(hid_t space, const Asked& asked, Shape& shape) {
  shape.elements = asked.elements;
  shape.rank = 0;
  shape.kind = asked.elements == 0 ? Shape::Kind::none : Shape::Kind::contiguous;
  if (asked.elements == 0) return {};
  std::array<hsize_t, H5S_MAX_RANK> extent;
  shape.rank = H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  if (shape.rank < 0) return not_told();
  if (shape.rank == 0) return {};
  const bool all = asked.type == H5S_SEL_ALL;
  std::int64_t box = 1;
  std::int64_t pitch = 1;
  for (int d = shape.rank - 1; d >= 0; --d) {
    shape.low[d] = all ? 0 : static_cast<std::int64_t>(asked.low[d]);
    shape.size[d] = static_cast<std::int64_t>(all ? extent[d] : asked.high[d] - asked.low[d] + 1);
    shape.pitch[d] = pitch;
    pitch *= static_cast<std::int64_t>(extent[d]);
    box *= shape.size[d];
  }
  if (asked.type == H5S_SEL_POINTS) {
    if (asked.elements > 1) shape.kind = Shape::Kind::points;
    return {};
  }
  if (box != asked.elements) {
    shape.kind = Shape::Kind::hyperslab;
    return {};
  }
  int d = 0;
  while (d < shape.rank && shape.size[d] == 1) ++d;
  for (++d; d < shape.rank; ++d) {
    if (shape.size[d] != static_cast<std::int64_t>(extent[d])) shape.kind = Shape::Kind::box;
  }
  return {};
}

}  // namespace

Status shape_of(hid_t space, Shape& shape) {
  Asked asked;
  if (Status status = ask(space, asked); !status.ok()) return status;
  return describe(space, asked, shape);
}

Status outline_of(hid_t space, Outline& outline) {
  Asked asked;
  if (Status status = ask(space, asked); !status.ok()) return status;
  outline = {asked.elements, 0, asked.elements, true};
  if (asked.elements == 0 || asked.type == H5S_SEL_ALL) return {};
  if (asked.one_dimension()) {
    outline.begin = static_cast<std::int64_t>(asked.low[0]);
    outline.end = static_cast<std::int64_t>(asked.high[0]) + 1;
    outline.one_run = outline.end - outline.begin == asked.elements &&
                      (asked.type != H5S_SEL_POINTS || asked.elements == 1);
    return {};
  }
  Shape shape;
  if (Status status = describe(space, asked, shape); !status.ok()) return status;
  outline.begin = shape.begin();
  outline.end = shape.end();
  outline.one_run = shape.kind == Shape::Kind::contiguous;
  return {};
}

Status SequenceList::open(hid_t space, std::int64_t element) {
  at_ = count_ = 0;
  // HDF5 keeps the dataspace as it is as long as our callback runs, so the iterator need not copy it.
  iterator_ = H5Ssel_iter_create(space, static_cast<std::size_t>(element), H5S_SEL_ITER_SHARE_WITH_DATASPACE);
  if (iterator_ < 0) return {Code::internal, "HDF5 makes no iterator for a selection"};
  offsets_.resize(kBatch);
  lengths_.resize(kBatch);
  return {};
}

void SequenceList::close() {
  if (iterator_ >= 0) H5Ssel_iter_close(iterator_);
  iterator_ = H5I_INVALID_HID;
  at_ = count_ = 0;
}

bool SequenceList::fetch(Status& failure) {
  if (iterator_ < 0) return false;
  std::size_t elements = 0;
  at_ = count_ = 0;
  if (H5Ssel_iter_get_seq_list(iterator_, kBatch, SIZE_MAX, &count_, &elements, offsets_.data(),
                               lengths_.data()) < 0) {
    count_ = 0;
    failure.update({Code::internal, "HDF5 fails to walk a selection"});
  }
  return count_ > 0;
}

Status PairWalk::open(const Pair& pair, const Shape& file, const Shape& memory) {
  close();
  file_base_ = pair.file;
  memory_contiguous_ = memory.kind == Shape::Kind::contiguous;
  stream_ = pair.stream + (memory_contiguous_ ? memory.begin() * pair.element : 0);
  if (file.elements != memory.elements) {
    return {Code::bad_argument, "a file selection of " + std::to_string(file.elements) +
                                    " elements meets a memory selection of " +
                                    std::to_string(memory.elements)};
  }
  if (Status status = file_.open(pair.file_space, pair.element); !status.ok()) return status;
  return memory_contiguous_ ? Status{} : memory_.open(pair.memory_space, pair.element);
}

void PairWalk::close() {
  file_.close();
  memory_.close();
}

std::int64_t PairWalk::peek(Status& failure) {
  return file_.ready(failure) ? file_base_ + file_.offset() : kNoOffset;
}

std::size_t PairWalk::take(std::int64_t limit, std::span<Run> out, Status& failure) {
  if (memory_contiguous_) return take_contiguous(limit, out, failure);
  std::size_t n = 0;
  while (file_.ready(failure)) {
    const std::int64_t at = file_base_ + file_.offset();
    if (at >= limit || !memory_.ready(failure)) break;
    const std::int64_t from = stream_ + memory_.offset();
    const std::int64_t length = std::min({file_.length(), memory_.length(), limit - at});
    if (n > 0 && out[n - 1].file + out[n - 1].length == at && out[n - 1].stream + out[n - 1].length == from) {
      out[n - 1].length += length;
    } else if (n == out.size()) {
      break;
    } else {
      out[n++] = {at, from, length};
    }
    file_.advance(length);
    memory_.advance(length);
  }
  return n;
}

std::size_t PairWalk::take_contiguous(std::int64_t limit, std::span<Run> out, Status& failure) {
  std::size_t n = 0;
  while (n < out.size() && file_.ready(failure)) {
    const std::size_t batch = std::min(out.size() - n, file_.left_in_batch());
    const hsize_t* offsets = file_.offsets();
    const std::size_t* lengths = file_.lengths();
    std::size_t i = 0;
    for (; i < batch; ++i) {
      const std::int64_t at = file_base_ + static_cast<std::int64_t>(offsets[i]);
      const auto length = static_cast<std::int64_t>(lengths[i]);
      if (at > limit - length) break;
      out[n++] = {at, stream_, length};
      stream_ += length;
    }
    file_.skip(i);
    if (i == batch) continue;
    const std::int64_t at = file_base_ + file_.offset();
    if (at >= limit) break;
    out[n++] = {at, stream_, limit - at};
    stream_ += limit - at;
    file_.advance(limit - at);
  }
  return n;
}

}  // namespace forebay::hdf5
