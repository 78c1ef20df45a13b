// The table's entries for a file as a whole: create, open, close, define and data modes, inquiries that our
// puts change.
#pragma once

#include <functional>

#include "abi_1_12.hpp"

namespace forebay::pnc {

struct OpenFile;

/// Collective: what ncmpi_end_indep_data does.
int leave_independent_mode(OpenFile& file);
/// Collective: ends a definition whose fill PnetCDF's own driver cannot write; does nothing for others.
int end_large_definition(OpenFile& file);

/// Creates or opens the file on PnetCDF's own driver, and says what that said.
using StockOpen = std::function<int(void** stock_file)>;

/// What create and open do, whatever the arguments of this PnetCDF's are.
int create_over(const StockOpen& stock, MPI_Comm, const char* path, int cmode, MPI_Info, void** object);
int open_over(const StockOpen& stock, MPI_Comm, const char* path, int omode, MPI_Info, void** object);

int create(MPI_Comm, const char* path, int cmode, int ncid, MPI_Info, void** object);
int open(MPI_Comm, const char* path, int omode, int ncid, MPI_Info, void** object);
int close(void*);
int abort(void*);
int enddef(void*);
int enddef_aligned(void*, MPI_Offset, MPI_Offset, MPI_Offset, MPI_Offset);
int redef(void*);
int sync(void*);
int flush(void*);
int begin_indep_data(void*);
int end_indep_data(void*);
int inq_misc(void*, int*, char*, int*, int*, int*, int*, MPI_Offset*, MPI_Offset*, MPI_Offset*, MPI_Offset*,
             MPI_Offset*, MPI_Info*, int*, MPI_Offset*, MPI_Offset*);
int inq_dim(void*, int, char*, MPI_Offset*);
int copy_att(void* from, int, const char*, void* to, int);

}  // namespace forebay::pnc
