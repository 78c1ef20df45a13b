// The table's entry for blocking gets.
#pragma once

#include "abi_1_12.hpp"

namespace forebay::pnc {

/// Read by PnetCDF's own driver, but where it would read the wrong records: those that a stride names.
int get_var(void*, int variable, Index start, Index count, Index stride, Index imap, void* buffer,
            MPI_Offset buffer_count, MPI_Datatype, int how);

}  // namespace forebay::pnc
