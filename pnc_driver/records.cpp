// Agreeing on, writing and handing over the number of records.
#include "records.hpp"
#include "mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "agree.hpp"
#include "errors.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

constexpr std::int64_t count_offset = 4;  // in the header, behind the magic

std::int64_t count_width(const OpenFile& file) {
  return file.cdf_format == 5 ? 8 : 4;
}

int write_count(OpenFile& file, std::int64_t records) {
  const auto width = static_cast<std::size_t>(count_width(file));
  // PnetCDF's bound, though the format would have room for twice as many.
  if (width == 4 && records > std::numeric_limits<std::int32_t>::max()) return NC_EINTOVERFLOW;
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < width; ++i)
    bytes[i] = static_cast<std::uint8_t>(records >> (8 * (width - 1 - i)));
  const Status status = file.core->write_at(count_offset, bytes.data(), count_width(file));
  return report(status, "cannot write the number of records");
}

// Records that the header does not count are lost, and no rank may believe otherwise; where they are kept,
// not longer than until the next sync or close.
int spread_or_defer(OpenFile& file, int err) {
  if (!file.core->survives()) return spread_error(file, err);
  if (err != NC_NOERR)
    file.core->defer({Code::io, "cannot write the number of records of " + file.core->path()});
  return NC_NOERR;
}

int stock_put_size(const OpenFile& file, MPI_Offset& bytes) {
  return file.stock.inq_misc(file.stock_file, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr, nullptr, &bytes, nullptr, nullptr, nullptr, nullptr, nullptr);
}

// Puts one element through PnetCDF's own driver, as it stands in the file. Collective where `how` says so,
// and then every rank puts that same element: from 1.15 on, those that put nothing take no part in agreeing
// on the count.
int put_again(OpenFile& file, const Reach& reach, int how) {
  const Variable* variable = nullptr;
  int err = file.variables.find(reach.variable, variable);
  std::vector<MPI_Offset> start;
  std::array<std::uint8_t, 8> value{};
  if (err == NC_NOERR) {
    std::int64_t rest = reach.element;
    for (std::size_t d = 0; d < variable->dims(); ++d) {
      start.push_back(rest / variable->pitch[d]);
      rest %= variable->pitch[d];
    }
    std::int64_t begin = 0;
    std::int64_t record_stride = 0;
    err = file.variables.locate(*variable, begin);
    if (err == NC_NOERR) err = file.variables.record_stride(record_stride);
    const std::int64_t offset = begin + reach.element / variable->record_elements * record_stride +
                                reach.element % variable->record_elements * variable->element_bytes;
    if (err == NC_NOERR) {
      err = report(file.core->read_at(offset, value.data(), variable->element_bytes),
                   "cannot read back a record");
    }
    if constexpr (std::endian::native == std::endian::little) {
      std::reverse(value.begin(), value.begin() + variable->element_bytes);
    }
  }
  if ((how & mode::collective) != 0) err = spread_error(file, err);
  if (err != NC_NOERR) return err;
  const std::vector<MPI_Offset> count(start.size(), 1);
  // What PnetCDF's driver counts as written was counted already.
  MPI_Offset before = 0, after = 0;
  (void)stock_put_size(file, before);
  err = file.stock.put_var(file.stock_file, reach.variable, start.data(), count.data(), nullptr, nullptr,
                           value.data(), 1, MPI_DATATYPE_NULL,
                           how | mode::write | mode::blocking | mode::flexible);
  file.core->note_direct_writes();
  (void)stock_put_size(file, after);
  file.put_bytes -= after - before;
  return err;
}

}  // namespace

int stock_records(const OpenFile& file, std::int64_t& records) {
  records = 0;
  const int dimension = file.variables.unlimited_dimension();
  if (dimension < 0) return NC_NOERR;
  MPI_Offset size = 0;
  const int err = file.stock.inq_dim(file.stock_file, dimension, nullptr, &size);
  records = size;
  return err;
}

int RecordCount::proposal(const OpenFile& file, const Reach& mine, std::int64_t& value) {
  value = -1;
  if (mine.records <= 0) return NC_NOERR;
  const std::int64_t ranks = file.core->ranks();
  if (mine.records > std::numeric_limits<std::int64_t>::max() / ranks - 1) return NC_EINTOVERFLOW;
  value = mine.records * ranks + file.core->rank();
  return NC_NOERR;
}

int RecordCount::accept(OpenFile& file, std::int64_t maximum, const Reach& mine) {
  if (maximum < 0) return catch_up(file);
  const std::int64_t records = maximum / file.core->ranks();
  if (records <= agreed_) return catch_up(file);  // the same on all ranks
  const bool kept = file.core->holds();           // likewise
  if (!kept || file.core->survives()) {
    if (int err = put_in_header(file, records)) return err;
  } else if (file.core->rank() == 0) {
    std::int64_t known = 0;
    if (stock_records(file, known) == NC_NOERR && records > known) file.put_bytes += count_width(file);
  }
  agreed_ = records;
  holder_ = static_cast<int>(maximum % file.core->ranks());
  if (file.core->rank() == holder_) reach_ = mine;
  tell_at_exit(file);
  return NC_NOERR;
}

// Collective.
int RecordCount::put_in_header(OpenFile& file, std::int64_t records) {
  int err = NC_NOERR;
  if (file.core->rank() == 0) {
    std::int64_t known = 0;
    err = stock_records(file, known);
    if (err == NC_NOERR && records > known) {
      err = write_count(file, records);
      // What was kept before was counted as written then.
      if (err == NC_NOERR && records > agreed_) file.put_bytes += count_width(file);
    }
  }
  if (int failed = spread_or_defer(file, err)) return failed;
  written_ = records;
  return NC_NOERR;
}

int RecordCount::catch_up(OpenFile& file) {
  if (agreed_ <= written_ || file.core->holds()) return NC_NOERR;
  return put_in_header(file, agreed_);
}

int RecordCount::accept_independent(OpenFile& file, const Reach& mine) {
  std::int64_t known = 0;
  if (int err = stock_records(file, known)) return err;
  if (mine.records <= std::max(known, agreed_)) return NC_NOERR;
  if (!file.core->commits()) return put_again(file, mine, mode::independent);
  alone_.extend(mine);
  tell_at_exit(file);
  return NC_NOERR;
}

// Also where nothing is kept now: of each rank it must be known what it has reached.
void RecordCount::tell_at_exit(OpenFile& file) const {
  file.core->count_at_exit(count_offset, static_cast<int>(count_width(file)), agreed_, alone_.records);
}

int RecordCount::catch_up_independent(OpenFile& file) {
  if (alone_.records == 0) return NC_NOERR;
  std::int64_t known = 0;
  if (int err = stock_records(file, known)) return err;
  if (alone_.records > known) {
    if (int err = put_again(file, alone_, mode::independent)) return err;
  }
  alone_ = {};
  return NC_NOERR;
}

int RecordCount::catch_up_independent_on_all(OpenFile& file) {
  const int err = spread_or_defer(file, catch_up_independent(file));
  tell_at_exit(file);
  return err;
}

int RecordCount::restore(OpenFile& file) {
  if (file.core->rank() != 0) return NC_NOERR;
  std::int64_t known = 0;
  if (int err = stock_records(file, known)) return err;
  return written_ <= known ? NC_NOERR : write_count(file, written_);
}

int RecordCount::restore_on_all(OpenFile& file) {
  return spread_or_defer(file, restore(file));
}

int RecordCount::write_ahead(OpenFile& file) const {
  if (file.core->rank() != 0 || agreed_ <= written_) return NC_NOERR;
  std::int64_t known = 0;
  if (int err = stock_records(file, known)) return err;
  return agreed_ > known ? write_count(file, agreed_) : NC_NOERR;
}

int RecordCount::settle(OpenFile& file) {
  std::int64_t known = 0;
  if (int err = stock_records(file, known)) return err;
  if (agreed_ <= known) return NC_NOERR;
  std::array<std::int64_t, 2> where{reach_.variable, reach_.element};
  if (MPI_Bcast(where.data(), static_cast<int>(where.size()), MPI_INT64_T, holder_,
                mpi::comm_of(file.core->comm())) != MPI_SUCCESS)
    return NC_EMPI;
  Reach reach = reach_;
  reach.variable = static_cast<int>(where[0]);
  reach.element = where[1];
  const int err = put_again(file, reach, mode::collective);
  if (int again = stock_records(file, known)) return again;
  if (known < agreed_) return err != NC_NOERR ? err : NC_EWRITE;
  return err;
}

}  // namespace forebay::pnc
