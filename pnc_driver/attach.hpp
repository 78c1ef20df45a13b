// How this driver comes to sit between PnetCDF and its own driver, and when it refuses to.
#pragma once

#include "abi_1_12.hpp"

namespace forebay::pnc {

/// The table of PnetCDF's own driver in the one form that this driver works with, whatever the library's is;
/// every open file works on top of it. Set before our table is given out. Its create and open are null under
/// PnetCDF 1.15.
const DriverTable& stock_table();

/// How a function of the PnetCDF in use is found: null when it has none of that name. `context` is what came
/// with it.
using FindSymbol = void* (*)(void* context, const char* name);

/// A function of the PnetCDF in use; null when it has none of that name.
void* library_symbol(const char* name);

/// Whether this PnetCDF's close returns one code on all ranks, the worst of theirs, as it does from 1.15 on.
bool close_agrees();

/// Our own table (table.cpp).
const DriverTable& forebay_table();

/// Returns the table to answer with: ours, in the form that the release of the library has, or the stock one
/// where that release is not known or another PnetCDF is served already (one line on stderr says so). The
/// first library stays the one that is served.
const void* attach(const void* stock_table, FindSymbol find, void* context);

}  // namespace forebay::pnc
