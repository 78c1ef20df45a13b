// Putting batches together, and handing them to the core.
#include "batch.hpp"

#include <algorithm>
#include <array>

#include "errors.hpp"

namespace forebay::pnc {

void Batch::clear() {
  puts_.clear();
  placement_.clear();
  memory_.clear();
  converted_.clear();
  gathered_.clear();
  reach_ = {};
  bytes_ = 0;
}

template <class MakeSource>
int Batch::add_parts(const Variable& variable, const Selection& selection, MakeSource&& make_source) {
  const int err = placement_.place(variable, selection, [&](Cursor* cursor, std::int64_t first) {
    puts_.push_back({cursor, make_source(first)});
  });
  if (err != NC_NOERR) return err;
  reach_.extend({selection.records, variable.id, selection.last_element});
  bytes_ += selection.elements * variable.element_bytes;
  return NC_NOERR;
}

int Batch::add(const Variable& variable, const Selection& selection, const std::byte* data, Swap swap) {
  return add_parts(variable, selection, [&](std::int64_t first) {
    return &memory_.emplace_back(data + first * variable.element_bytes, swap);
  });
}

int Batch::add_converted(const Variable& variable, const Selection& selection, const std::byte* data,
                         const Conversion& conversion, const Mapping* mapping) {
  if (mapping != nullptr) {  // one block: its parts' streams need not be told apart
    return add_parts(variable, selection, [&](std::int64_t) {
      return &gathered_.emplace_back(data, mapping->count, mapping->imap, conversion.external,
                                     conversion.memory, conversion.fill.data(), conversion.options);
    });
  }
  const std::int64_t each = element_size(conversion.memory);
  return add_parts(variable, selection, [&](std::int64_t first) {
    return &converted_.emplace_back(data + first * each, conversion.external, conversion.memory,
                                    conversion.fill.data(), conversion.options);
  });
}

bool Batch::out_of_range() const {
  const auto bad = [](const auto& source) { return source.range_error(); };
  return std::any_of(converted_.begin(), converted_.end(), bad) ||
         std::any_of(gathered_.begin(), gathered_.end(), bad);
}

int write_collective(OpenFile& file, Batch& batch, int problem, bool& flag) {
  enum { reach, flagged, fields };
  std::array<std::int64_t, fields> agreed{-1, flag ? 1 : 0};
  const bool has_records = file.variables.unlimited_dimension() >= 0;  // the same on all ranks
  if (problem == NC_NOERR && has_records) problem = RecordCount::proposal(file, batch.reach(), agreed[reach]);
  if (problem != NC_NOERR) batch.clear();

  Status status = file.core->write_all(batch.puts(), agreed);
  flag = agreed[flagged] != 0;
  if (status.ok()) file.put_bytes += batch.bytes();
  int err = report(status, "a collective put failed");
  // Where the write failed, the records that it would have added are not there.
  if (err == NC_NOERR && has_records) err = file.records.accept(file, agreed[reach], batch.reach());
  if (file.share) {
    const int synced = report(file.core->sync(), "cannot sync the file");
    if (err == NC_NOERR) err = synced;
  }
  return problem != NC_NOERR ? problem : err;
}

int write_independent(OpenFile& file, Batch& batch) {
  const Status status = file.core->write(batch.puts());
  if (!status.ok()) return report(status, "an independent put failed");
  file.put_bytes += batch.bytes();
  return batch.reach().records > 0 ? file.records.accept_independent(file, batch.reach()) : NC_NOERR;
}

}  // namespace forebay::pnc
