// Putting batches of gets together, and having the core read them.
#include "get_batch.hpp"

#include <algorithm>

#include "drain.hpp"
#include "errors.hpp"

namespace forebay::pnc {
namespace {

// How many elements from its beginning on an imap reaches into a buffer. It counts in elements that lie side
// by side, also where the buffer has gaps.
std::int64_t reach_of(const Request& request) {
  std::int64_t reach = request.selection.elements;
  if (!request.mapped) return reach;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < request.mapping.count.size(); ++d)
    last += (request.mapping.count[d] - 1) * std::max<std::int64_t>(request.mapping.imap[d], 0);
  return std::max(reach, last + 1);
}

}  // namespace

void GetBatch::clear() {
  gets_.clear();
  entries_.clear();
  placement_.clear();
  memory_.clear();
  converted_.clear();
  scattered_.clear();
  bytes_ = 0;
}

int GetBatch::add(const Request& request, const GetBuffer& buffer) {
  if (request.selection.elements == 0) return NC_NOERR;
  Entry& entry =
      entries_.emplace_back(Entry{&request, &buffer, nullptr, 0, converted_.size(), scattered_.size()});
  auto* elements = static_cast<std::byte*>(buffer.memory);
  if (!request.layout.contiguous) {
    entry.packed_bytes = request.memory_bytes();
    const auto room = static_cast<std::size_t>(reach_of(request)) * size_of(request.layout.element);
    // What an imap leaves out comes back to the program, too.
    entry.packed = request.mapped ? std::make_unique<std::byte[]>(room)
                                  : std::make_unique_for_overwrite<std::byte[]>(room);
    elements = entry.packed.get();
  }
  if (int err = add_sinks(entry, elements)) return err;
  bytes_ += request.selection.elements * request.variable->element_bytes;
  return NC_NOERR;
}

int GetBatch::add_sinks(Entry& entry, std::byte* elements) {
  const Request& request = *entry.request;
  const Variable& variable = *request.variable;
  const auto add = [&](auto&& make_sink) {
    return placement_.place(variable, request.selection, [&](Cursor* cursor, std::int64_t first) {
      gets_.push_back({cursor, make_sink(first)});
    });
  };
  if (!request.converts && !request.mapped) {
    const Swap swap = swap_of(variable);
    return add([&](std::int64_t first) {
      return &memory_.emplace_back(elements + first * variable.element_bytes, swap);
    });
  }
  const Conversion how = conversion_back(file_, variable, request.layout);
  if (request.mapped) {  // one block: its parts' streams need not be told apart
    return add([&](std::int64_t) {
      return &scattered_.emplace_back(elements, request.mapping.count, request.mapping.imap, how.external,
                                      how.memory, how.fill.data(), how.options);
    });
  }
  const std::int64_t each = element_size(how.memory);
  return add([&](std::int64_t first) {
    return &converted_.emplace_back(elements + first * each, how.external, how.memory, how.fill.data(),
                                    how.options);
  });
}

int GetBatch::finish(std::size_t number) {
  Entry& entry = entries_[number];
  const bool last = number + 1 == entries_.size();
  const auto any_bad = [](const auto& sinks, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (sinks[i].range_error()) return true;
    }
    return false;
  };
  const bool bad =
      any_bad(converted_, entry.converted, last ? converted_.size() : entries_[number + 1].converted) ||
      any_bad(scattered_, entry.scattered, last ? scattered_.size() : entries_[number + 1].scattered);
  if (entry.packed != nullptr) {
    const GetBuffer& buffer = *entry.buffer;
    if (int err = unpack(entry.packed.get(), entry.packed_bytes, buffer.memory, buffer.count, buffer.type))
      return err;
    entry.packed.reset();
  }
  return bad ? NC_ERANGE : NC_NOERR;
}

int read_collective(OpenFile& file, GetBatch& batch, int problem) {
  const int drained = drain_collective(file);
  if (problem != NC_NOERR) batch.clear();
  const Status status = file.core->read_all(batch.gets());
  if (status.ok()) file.get_bytes += batch.bytes();
  const int err = report(status, "a collective get failed", NC_EREAD);
  return problem != NC_NOERR ? problem : drained != NC_NOERR ? drained : err;
}

int read_independent(OpenFile& file, GetBatch& batch) {
  const int drained = drain_independent(file);
  const Status status = file.core->read(batch.gets());
  if (status.ok()) file.get_bytes += batch.bytes();
  const int err = report(status, "an independent get failed", NC_EREAD);
  return drained != NC_NOERR ? drained : err;
}

}  // namespace forebay::pnc
