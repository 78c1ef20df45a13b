// What PnetCDF's own driver says it has moved of a file, for reports.
#pragma once

#include <cstdint>
#include <utility>

#include "open_file.hpp"

namespace forebay::pnc {

/// This rank's bytes since the file was opened.
struct StockBytes {
  std::int64_t put = 0;
  std::int64_t got = 0;
};

inline StockBytes stock_bytes(const OpenFile& file) {
  MPI_Offset put = 0, got = 0;
  (void)file.stock.inq_misc(file.stock_file, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                            nullptr, nullptr, &put, &got, nullptr, nullptr, nullptr, nullptr);
  return {put, got};
}

/// Makes a call of PnetCDF's own driver that moves the program's data, in a file that we serve otherwise, and
/// counts it. Where the whole file is its own, there is nothing to count.
template <class Call>
int count_stock_call(OpenFile& file, Call&& call) {
  if (!file.active()) return std::forward<Call>(call)();
  const StockBytes before = stock_bytes(file);
  const int err = std::forward<Call>(call)();
  const StockBytes after = stock_bytes(file);
  Counters& counters = file.core->counters();
  if (after.put > before.put) ++counters.stock_puts;
  if (after.got > before.got) ++counters.stock_gets;
  counters.stock_put_bytes += after.put - before.put;
  counters.stock_get_bytes += after.got - before.got;
  return err;
}

}  // namespace forebay::pnc
