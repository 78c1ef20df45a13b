// Placing selections in the file, and handing batches to the core.
#include "batch.hpp"

#include <algorithm>
#include <array>

#include "errors.hpp"

namespace forebay::pnc {

void Batch::clear() {
  puts_.clear();
  strided_.clear();
  lists_.clear();
  memory_.clear();
  converted_.clear();
  gathered_.clear();
  reach_ = {};
  bytes_ = 0;
}

template <class MakeSource>
int Batch::add_parts(const Variable& variable, const Selection& selection, MakeSource&& make_source) {
  if (selection.elements == 0) return NC_NOERR;
  std::int64_t begin = 0;
  std::int64_t record_stride = 0;
  if (int err = file_.variables.locate(variable, begin)) return err;
  if (variable.is_record) {
    if (int err = file_.variables.record_stride(record_stride)) return err;
  }
  const std::int64_t each = variable.element_bytes;

  for (const Part& part : selection.parts) {
    Put put;
    if (part.list != nullptr) {
      PieceMapping mapping;
      mapping.base = begin + part.list_record * record_stride;
      mapping.element_bytes = each;
      mapping.record_elements = variable.record_elements;
      mapping.record_stride_bytes = record_stride;
      put.cursor = &lists_.emplace_back(part.list, mapping);
    } else {
      const Block& block = part.block;
      loops_.clear();
      for (std::size_t i = 0; i < block.loops.size(); ++i) {
        const std::int64_t unit = i == 0 && block.over_records ? record_stride : each;
        loops_.push_back({block.loops[i].stride * unit, block.loops[i].count});
      }
      std::int64_t offset = begin;
      if (variable.is_record) {
        offset += block.first / variable.record_elements * record_stride +
                  block.first % variable.record_elements * each;
      } else {
        offset += block.first * each;
      }
      put.cursor = &strided_.emplace_back(offset, 0, block.run * each, loops_);
    }
    put.source = make_source(part.stream_first);
    puts_.push_back(put);
  }
  reach_.extend({selection.records, variable.id, selection.last_element});
  bytes_ += selection.elements * each;
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

int write_together(OpenFile& file, Batch& batch, int problem, bool& flag) {
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

int write_alone(OpenFile& file, Batch& batch) {
  const Status status = file.core->write(batch.puts());
  if (!status.ok()) return report(status, "an independent put failed");
  file.put_bytes += batch.bytes();
  return batch.reach().records > 0 ? file.records.accept_alone(file, batch.reach()) : NC_NOERR;
}

}  // namespace forebay::pnc
