// The table's entries that take data: blocking and nonblocking puts.
#pragma once

#include "abi_1_12.hpp"

namespace forebay::pnc {

int put_var(void*, int variable, Index start, Index count, Index stride, Index imap, const void* buffer,
            MPI_Offset buffer_count, MPI_Datatype, int how);
int put_varn(void*, int variable, int pieces, IndexList starts, IndexList counts, const void* buffer,
             MPI_Offset buffer_count, MPI_Datatype, int how);
int iput_var(void*, int variable, Index start, Index count, Index stride, Index imap, const void* buffer,
             MPI_Offset buffer_count, MPI_Datatype, int* request, int how);
int bput_var(void*, int variable, Index start, Index count, Index stride, Index imap, const void* buffer,
             MPI_Offset buffer_count, MPI_Datatype, int* request, int how);
int iput_varn(void*, int variable, int pieces, IndexList starts, IndexList counts, const void* buffer,
              MPI_Offset buffer_count, MPI_Datatype, int* request, int how);
int bput_varn(void*, int variable, int pieces, IndexList starts, IndexList counts, const void* buffer,
              MPI_Offset buffer_count, MPI_Datatype, int* request, int how);
int buffer_attach(void*, MPI_Offset bytes);
int buffer_detach(void*);

}  // namespace forebay::pnc
