// The table's entries that give data: blocking and nonblocking gets.
#pragma once

#include "abi_1_12.hpp"

namespace forebay::pnc {

int get_var(void*, int variable, Index start, Index count, Index stride, Index imap, void* buffer,
            MPI_Offset buffer_count, MPI_Datatype, int how);
int get_varn(void*, int variable, int pieces, IndexList starts, IndexList counts, void* buffer,
             MPI_Offset buffer_count, MPI_Datatype, int how);
int iget_var(void*, int variable, Index start, Index count, Index stride, Index imap, void* buffer,
             MPI_Offset buffer_count, MPI_Datatype, int* request, int how);
int iget_varn(void*, int variable, int pieces, IndexList starts, IndexList counts, void* buffer,
              MPI_Offset buffer_count, MPI_Datatype, int* request, int how);

}  // namespace forebay::pnc
