// PnetCDF 1.15's table to and from the one form that the driver works with.
#pragma once

#include "abi_1_12.hpp"
#include "abi_1_15.hpp"

namespace forebay::pnc {

/// The entries that both forms have. create, open and the two of vard are null: the first two take arguments
/// that the form does not have, and no program of this release reaches the others.
DriverTable common_entries(const DriverTable115& stock);

/// Our own table in 1.15's form. `stock`, which must stay, is what its create and open call.
const DriverTable115& forebay_table_1_15(const DriverTable115& stock);

}  // namespace forebay::pnc
