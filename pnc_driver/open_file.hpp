// One file that a program has open through this driver: PnetCDF's own object below, the core beside it, and
// what is pending.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "abi_1_12.hpp"
#include "attached_buffer.hpp"
#include "engine/core_file.hpp"
#include "engine/stock_report.hpp"
#include "pending.hpp"
#include "records.hpp"
#include "selection.hpp"
#include "variables.hpp"

namespace forebay::pnc {

/// The hint nc_in_place_swap: whether PnetCDF may swap bytes in the program's buffer. We never do, but it
/// decides which nonblocking puts read that buffer at the call and which at the wait.
enum class InPlaceSwap { automatic, enabled, disabled };

/// Marks our objects, to know them from those of other drivers in the one call that takes two.
inline constexpr std::uint64_t kOpenFileMark = 0x666f726562617921;

struct OpenFile {
  OpenFile(const DriverTable& stock_table, void* stock_object)
      : stock(stock_table), stock_file(stock_object), variables(stock_table, stock_object) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  static OpenFile& of(void* object) { return *static_cast<OpenFile*>(object); }

  /// False: everything is PnetCDF's own driver's.
  bool active() const { return core != nullptr; }

  const std::uint64_t mark = kOpenFileMark;
  const DriverTable& stock;
  void* const stock_file;

  std::unique_ptr<CoreFile> core;
  std::unique_ptr<StockReport>
      stock_report;    ///< where PnetCDF's own driver does all, and somebody wants to know
  int cdf_format = 1;  ///< 1, 2 or 5
  bool writable = true;
  bool in_define = false;
  int first_new_variable = 0;  ///< of the definition at work
  bool independent = false;
  bool share = false;  ///< NC_SHARE with a PnetCDF that still heeds it: on disk after every collective put
  InPlaceSwap in_place_swap = InPlaceSwap::automatic;

  Variables variables;
  RecordCount records;
  Pending<PendingPut> puts;
  Pending<PendingGet> gets;
  ListSelector lists;
  std::optional<AttachedBuffer> attached;
  std::int64_t put_bytes = 0;  ///< to add to what PnetCDF's own driver says it has written
  std::int64_t get_bytes = 0;  ///< and read
};

}  // namespace forebay::pnc
