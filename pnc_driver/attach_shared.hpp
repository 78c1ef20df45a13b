// What the shared library exports.
#pragma once

#define FOREBAY_PNETCDF_EXPORT __attribute__((visibility("default")))

extern "C" {

/// For a loader that answers ncmpio_inq_driver() itself: takes the stock table and a dlopen handle of the
/// library it came from, and returns the table to answer with: ours, or the stock one when this library's
/// release is not known (one line on stderr says so).
FOREBAY_PNETCDF_EXPORT const void* forebay_pnetcdf_attach(void* stock_table, void* library_handle);

/// What PnetCDF asks for a driver. Found before PnetCDF's own when this library is loaded or linked first.
FOREBAY_PNETCDF_EXPORT const void* ncmpio_inq_driver();
}
