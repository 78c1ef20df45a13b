// How this driver comes to sit between PnetCDF and its own driver, and when it refuses to.
#pragma once

#include "abi_1_12.hpp"

namespace forebay::pnc {

/// The table of PnetCDF's own driver; every open file of this driver works on top of it. Set before our table
/// is given out.
const DriverTable& stock_table();

/// A function of the PnetCDF in use; null when it has none of that name.
void* library_symbol(const char* name);

/// Our own table (table.cpp).
const DriverTable& forebay_table();

}  // namespace forebay::pnc

#define FOREBAY_PNETCDF_EXPORT __attribute__((visibility("default")))

extern "C" {

/// For a loader that answers ncmpio_inq_driver() itself: takes the stock table and a dlopen handle of the
/// library it came from, and returns the table to answer with: ours, or the stock one when this library's
/// release is not known (one line on stderr says so).
FOREBAY_PNETCDF_EXPORT const void* forebay_pnetcdf_attach(void* stock_table, void* library_handle);

/// What PnetCDF asks for a driver. Found before PnetCDF's own when this library is loaded or linked first.
FOREBAY_PNETCDF_EXPORT const void* ncmpio_inq_driver();
}
