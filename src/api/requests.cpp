// What a program may get wrong in a request, and what it becomes.
#include "api/requests.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "api/tcio_file.hpp"
#include "request/piece_list.hpp"

namespace forebay::api {
namespace {

using std::to_string;
using tcio::kMostOffset;

constexpr int kMostDims = 32;
constexpr int kMostSlots = 64;

Status wrong(const std::string& what) {
  return {Code::bad_argument, what};
}

struct Box {
  std::array<std::int64_t, kMostDims> shape{}, start{}, count{}, stride{};
};

Status check_box(const forebay_request& r, Box& box) {
  if (r.ndims < 0 || r.ndims > kMostDims) return wrong(to_string(r.ndims) + " dimensions");
  if (r.ndims > 0 && r.shape == nullptr) return wrong("no shape");
  if (r.offset < 0 || r.offset > kMostOffset) return wrong("an array at offset " + to_string(r.offset));
  if (r.element_bytes < 1) return wrong("elements of " + to_string(r.element_bytes) + " bytes");
  std::int64_t bytes = r.element_bytes;
  for (int i = 0; i < r.ndims; ++i) {
    const auto d = static_cast<std::size_t>(i);
    const std::string where = "dimension " + to_string(i) + ": ";
    const std::int64_t shape = box.shape[d] = r.shape[i];
    const std::int64_t start = box.start[d] = r.start != nullptr ? r.start[i] : 0;
    const std::int64_t count = box.count[d] = r.count != nullptr ? r.count[i] : shape;
    const std::int64_t stride = box.stride[d] = r.stride != nullptr ? r.stride[i] : 1;
    if (shape < 0 || start < 0 || count < 0) return wrong(where + "a negative shape, start or count");
    if (stride < 1) return wrong(where + "a stride of " + to_string(stride));
    std::int64_t last = 0;
    if (count > 0 && (__builtin_mul_overflow(count - 1, stride, &last) ||
                      __builtin_add_overflow(last, start, &last) || last >= shape)) {
      return wrong(where + to_string(count) + " elements from " + to_string(start) + " on, " +
                   to_string(stride) + " apart, do not fit into " + to_string(shape));
    }
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(shape, 1), &bytes) || bytes > kMostOffset)
      return wrong("an array of more than 2^62 bytes");
  }
  if (bytes > kMostOffset - r.offset) return wrong("an array that ends past 2^62");
  return {};
}

Status wrong_piece(const forebay_request& r, std::int64_t i, std::int64_t length) {
  const std::string which = "piece " + to_string(i) + ": ";
  if (r.offsets[i] < 0) return wrong(which + "offset " + to_string(r.offsets[i]));
  if (length < 0) return wrong(which + to_string(length) + " elements");
  return wrong(which + to_string(length) + " elements of " + to_string(r.element_bytes) + " bytes from " +
               to_string(r.offsets[i]) + " on end past 2^62");
}

// Checked and spelled in one pass: what is kept of a piece is two or four bytes.
Status read_list(const forebay_request& r, PieceListPtr& list) {
  if (r.offset < 0 || r.offset > kMostOffset) return wrong("a list at offset " + to_string(r.offset));
  if (r.element_bytes < 1) return wrong("elements of " + to_string(r.element_bytes) + " bytes");
  if (r.pieces < 0) return wrong("a list of " + to_string(r.pieces) + " pieces");
  if (r.pieces > 0 && r.offsets == nullptr) return wrong("a list without offsets");
  const std::int64_t most = (kMostOffset - r.offset) / r.element_bytes;
  std::int64_t elements = 0;
  PieceListBuilder builder;
  for (std::int64_t i = 0; i < r.pieces; ++i) {
    const std::int64_t offset = r.offsets[i], length = r.lengths != nullptr ? r.lengths[i] : 1;
    if (offset < 0 || length < 0 || offset > most || length > most - offset) return wrong_piece(r, i, length);
    if (length > most - elements) return wrong("a list of more than 2^62 bytes");
    elements += length;
    builder.add(offset, length);
  }
  list = builder.finish();
  return {};
}

}  // namespace

Status Requests::check_memory(const forebay_request& r) {
  if ((r.memory == nullptr) == (r.stage == nullptr))
    return wrong(r.stage == nullptr ? "no memory was given" : "memory and staging were given");
  const std::int64_t size = r.element_bytes;
  if (r.swap != 0 && size != 1 && size != 2 && size != 4 && size != 8)
    return wrong("elements of " + to_string(size) + " bytes cannot be swapped");
  if (r.stage == nullptr) return {};
  const forebay_stage& stage = *r.stage;
  if (r.swap != 0) return wrong("who stages, swaps");
  if (stage.size < sizeof(forebay_stage)) return wrong("forebay_stage without its size");
  if (stage.begin == nullptr || stage.finish == nullptr || stage.memory == nullptr)
    return wrong("staging without a callback or memory");
  if (stage.slots < 1 || stage.slots > kMostSlots || stage.slot_bytes < size)
    return wrong("staging of " + to_string(stage.slots) + " slots of " + to_string(stage.slot_bytes) +
                 " bytes for elements of " + to_string(size));
  return {};
}

Status Requests::add_one(const forebay_request& r) {
  if (r.refused != nullptr) return wrong(r.refused);
  Part& part = parts_.emplace_back();
  Cursor* cursor = nullptr;
  std::int64_t bytes = 0;
  if (r.ndims == FOREBAY_PIECES) {
    PieceListPtr list;
    if (Status status = read_list(r, list); !status.ok()) return status;
    bytes = list->elements() * r.element_bytes;
    cursor = &part.list.emplace(std::move(list), PieceMapping{r.offset, r.element_bytes});
  } else {
    Box box;
    if (Status status = check_box(r, box); !status.ok()) return status;
    const auto n = static_cast<std::size_t>(r.ndims);
    cursor = &part.box.emplace(StridedCursor::subarray(r.offset, r.element_bytes, {box.shape.data(), n},
                                                       {box.start.data(), n}, {box.count.data(), n},
                                                       {box.stride.data(), n}));
    bytes = cursor->bytes();
  }
  if (bytes == 0) {
    parts_.pop_back();
    return {};
  }
  if (Status status = check_memory(r); !status.ok()) return status;
  end_ = std::max(end_, cursor->hull().end);
  const Swap swap = r.swap != 0 ? static_cast<Swap>(r.element_bytes) : Swap::none;
  if (r.stage != nullptr) {
    const StagingMemory memory{static_cast<std::byte*>(r.stage->memory), r.stage->slot_bytes, r.stage->slots};
    part.mover.emplace(*r.stage);
    if (kind_ == Kind::put) {
      part.staged_source.emplace(*part.mover, r.element_bytes, bytes, memory);
      puts_.push_back({cursor, &*part.staged_source});
    } else {
      part.staged_sink.emplace(*part.mover, r.element_bytes, memory);
      gets_.push_back({cursor, &*part.staged_sink});
    }
  } else if (kind_ == Kind::put) {
    part.source.emplace(r.memory, swap);
    puts_.push_back({cursor, &*part.source});
  } else {
    part.sink.emplace(r.memory, swap);
    gets_.push_back({cursor, &*part.sink});
  }
  return {};
}

Status Requests::add_all(const forebay_request* requests, std::int64_t count) {
  if (count < 0) return wrong(to_string(count) + " requests");
  if (count > 0 && requests == nullptr) return wrong("no list of requests was given");
  // A caller's structures may have grown since this was built.
  const std::size_t step = count > 0 ? requests->size : 0;
  if (count > 0 && step < sizeof(forebay_request)) return wrong("forebay_request without its size");
  const auto* at = reinterpret_cast<const std::byte*>(requests);
  for (std::int64_t i = 0; i < count; ++i, at += step) {
    const auto& request = *reinterpret_cast<const forebay_request*>(at);
    Status status =
        request.size == step ? add_one(request) : wrong("another size of forebay_request than the first");
    if (!status.ok()) return {status.code(), "request " + to_string(i) + ": " + status.message()};
  }
  return {};
}

Status Requests::add(const forebay_request* requests, std::int64_t count, const std::string& what) {
  const std::size_t parts = parts_.size(), puts = puts_.size(), gets = gets_.size();
  const std::int64_t end = end_;
  Status status;
  try {
    status = add_all(requests, count);
  } catch (const std::bad_alloc&) {
    status = {Code::no_memory, "no memory for the list"};
  }
  if (status.ok()) return status;
  puts_.resize(puts);
  gets_.resize(gets);
  while (parts_.size() > parts) parts_.pop_back();
  end_ = end;
  return {status.code(), what + ": " + status.message()};
}

void Requests::begin() {
  for (Part& part : parts_) {
    if (part.staged_source) part.staged_source->begin();
  }
}

bool Requests::settle() {
  bool good = true;
  for (Part& part : parts_) {
    if (part.staged_source) {
      part.staged_source->settle();
      good = good && !part.staged_source->failed();
    }
    if (part.staged_sink) {
      part.staged_sink->settle();
      good = good && !part.staged_sink->failed();
    }
  }
  return good;
}

}  // namespace forebay::api
