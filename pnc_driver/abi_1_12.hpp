// The driver interface inside PnetCDF 1.12.3 to 1.14.x: one table of 49 functions per driver, which no header
// installs.
//
// The library asks ncmpio_inq_driver() for the table at each create and open, keeps the object that create or
// open returns, and hands it back as the first argument of every later call. 1.15 has another table.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

namespace forebay::pnc {

/// Bits of the `mode` argument of the data functions.
namespace mode {
inline constexpr int collective = 0x001;
inline constexpr int independent = 0x002;
inline constexpr int write = 0x004;
inline constexpr int read = 0x008;
inline constexpr int zero = 0x010;  ///< this rank takes part with nothing: its arguments were found wrong
inline constexpr int high_level = 0x020;  ///< the buffer is one predefined type, its count is to be ignored
inline constexpr int flexible = 0x040;    ///< the buffer is described by an MPI datatype
inline constexpr int blocking = 0x080;
inline constexpr int nonblocking = 0x100;
inline constexpr int buffered = 0x200;  ///< into the attached buffer
}  // namespace mode

using Index = const MPI_Offset*;
using IndexList = MPI_Offset* const*;

struct DriverTable {
  // the file
  int (*create)(MPI_Comm, const char* path, int cmode, int ncid, MPI_Info, void** file);
  int (*open)(MPI_Comm, const char* path, int omode, int ncid, MPI_Info, void** file);
  int (*close)(void*);
  int (*enddef)(void*);
  int (*enddef_aligned)(void*, MPI_Offset, MPI_Offset, MPI_Offset, MPI_Offset);
  int (*redef)(void*);
  int (*sync)(void*);
  int (*flush)(void*);
  int (*abort)(void*);
  int (*set_fill)(void*, int, int*);
  int (*inq)(void*, int* dims, int* vars, int* atts, int* unlimited);
  int (*inq_misc)(void*, int* path_length, char* path, int* fixed_vars, int* record_vars, int* striping_size,
                  int* striping_count, MPI_Offset* header_size, MPI_Offset* header_extent,
                  MPI_Offset* record_size, MPI_Offset* put_size, MPI_Offset* get_size, MPI_Info*,
                  int* requests, MPI_Offset* buffer_usage, MPI_Offset* buffer_size);
  int (*sync_numrecs)(void*);
  int (*begin_indep_data)(void*);
  int (*end_indep_data)(void*);

  // dimensions
  int (*def_dim)(void*, const char*, MPI_Offset, int*);
  int (*inq_dimid)(void*, const char*, int*);
  int (*inq_dim)(void*, int, char*, MPI_Offset*);
  int (*rename_dim)(void*, int, const char*);

  // attributes
  int (*inq_att)(void*, int, const char*, nc_type*, MPI_Offset*);
  int (*inq_attid)(void*, int, const char*, int*);
  int (*inq_attname)(void*, int, int, char*);
  int (*copy_att)(void* from, int, const char*, void* to, int);
  int (*rename_att)(void*, int, const char*, const char*);
  int (*del_att)(void*, int, const char*);
  int (*get_att)(void*, int, const char*, void*, MPI_Datatype);
  int (*put_att)(void*, int, const char*, nc_type, MPI_Offset, const void*, MPI_Datatype);

  // variables
  int (*def_var)(void*, const char*, nc_type, int, const int*, int*);
  int (*def_var_fill)(void*, int, int, const void*);
  int (*fill_var_rec)(void*, int, MPI_Offset);
  int (*inq_var)(void*, int, char* name, nc_type*, int* ndims, int* dimids, int* natts, MPI_Offset* begin,
                 int* no_fill, void* fill_value);
  int (*inq_varid)(void*, const char*, int*);
  int (*rename_var)(void*, int, const char*);

  // data: (file, variable, start, count, stride, imap, buffer, buffer count, buffer type, [request,] mode)
  int (*get_var)(void*, int, Index, Index, Index, Index, void*, MPI_Offset, MPI_Datatype, int);
  int (*put_var)(void*, int, Index, Index, Index, Index, const void*, MPI_Offset, MPI_Datatype, int);
  int (*get_varn)(void*, int, int, IndexList, IndexList, void*, MPI_Offset, MPI_Datatype, int);
  int (*put_varn)(void*, int, int, IndexList, IndexList, const void*, MPI_Offset, MPI_Datatype, int);
  int (*get_vard)(void*, int, MPI_Datatype, void*, MPI_Offset, MPI_Datatype, int);
  int (*put_vard)(void*, int, MPI_Datatype, const void*, MPI_Offset, MPI_Datatype, int);
  int (*iget_var)(void*, int, Index, Index, Index, Index, void*, MPI_Offset, MPI_Datatype, int*, int);
  int (*iput_var)(void*, int, Index, Index, Index, Index, const void*, MPI_Offset, MPI_Datatype, int*, int);
  int (*bput_var)(void*, int, Index, Index, Index, Index, const void*, MPI_Offset, MPI_Datatype, int*, int);
  int (*iget_varn)(void*, int, int, IndexList, IndexList, void*, MPI_Offset, MPI_Datatype, int*, int);
  int (*iput_varn)(void*, int, int, IndexList, IndexList, const void*, MPI_Offset, MPI_Datatype, int*, int);
  int (*bput_varn)(void*, int, int, IndexList, IndexList, const void*, MPI_Offset, MPI_Datatype, int*, int);

  // nonblocking requests
  int (*buffer_attach)(void*, MPI_Offset);
  int (*buffer_detach)(void*);
  int (*wait)(void*, int, int*, int*, int);
  int (*cancel)(void*, int, int*, int*);
};

static_assert(sizeof(DriverTable) == 49 * sizeof(void (*)()),
              "the table of PnetCDF 1.12.3 to 1.14 has 49 entries");

}  // namespace forebay::pnc
