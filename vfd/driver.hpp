// One open file as HDF5 sees it, and the callbacks of the driver's class.
#pragma once

#include <H5FDdevelop.h>
#include <mpi.h>

#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "engine/core_file.hpp"
#include "engine/stock_report.hpp"
#include "forebay/hdf5.h"
#include "freed_space.hpp"
#include "library.hpp"
#include "mpi/handles.hpp"
#include "unwritten.hpp"

namespace forebay::hdf5 {

/// HDF5 holds a pointer to `pub`. H5Fset_mpi_atomicity takes any MPI driver's struct for the stock one's and
/// wants the MPI_File right behind it.
struct DriverFile {
  H5FD_t pub{};
  MPI_File handle = MPI_FILE_NULL;  ///< null where MPI-IO has not been needed so far (handle.hpp)

  std::unique_ptr<CoreFile> core;  ///< null where the stock driver does the work
  H5FD_t* stock = nullptr;  ///< the stock driver's file, where Forebay is off or refused to serve this file
  std::unique_ptr<StockReport> stock_report;  ///< then, where somebody wants to know
  mpi::File handle_of_all, handle_alone;      ///< made when they were asked for
  bool writable = false;
  const ApiContext* context = nullptr;
  MPI_Info info =
      MPI_INFO_NULL;  ///< the caller's hints and those that MPI-IO says are in use; never null while open
  MPI_Comm comm = MPI_COMM_NULL;  ///< the core's, not owned
  int rank = 0;
  int ranks = 1;
  haddr_t eof = 0;  ///< right after open; HADDR_UNDEF once something was written, as in the stock driver
  haddr_t eoa = 0;
  haddr_t last_eoa = 0;          ///< at the last truncate
  bool sync_required = false;    ///< the file system shows writes to other ranks only after MPI_File_sync
  std::uint64_t asked_last = 0;  ///< HDF5's last question (ctl): it tells what comes next (purpose.hpp)
  bool watches_space = false;    ///< what is kept, or held back, has to be in the file before space is
                                 ///< used again
  mutable FreedSpace freed;
  Unwritten unwritten;  ///< by this rank; tried again in flush and close
  H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;

  bool collective() const { return context->collective(); }
  /// In atomic mode each of the program's requests has to be one MPI-IO request.
  bool atomic() const;
};

inline DriverFile& driver_file(H5FD_t* file) {
  return *reinterpret_cast<DriverFile*>(file);
}
inline const DriverFile& driver_file(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file);
}

const H5FD_class_t& driver_class();

// open_close.cpp
H5FD_t* open_file(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr);
herr_t close_file(H5FD_t* file);
herr_t flush_file(H5FD_t* file, hid_t dxpl, hbool_t closing);
herr_t truncate_file(H5FD_t* file, hid_t dxpl, hbool_t closing);
herr_t delete_file(const char* name, hid_t fapl);

// write.cpp
herr_t write_bytes(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, const void* buffer);
herr_t write_vector(H5FD_t* file, hid_t dxpl, uint32_t count, H5FD_mem_t types[], haddr_t addrs[],
                    size_t sizes[], const void* buffers[]);
herr_t write_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, size_t count, hid_t memory_spaces[],
                       hid_t file_spaces[], haddr_t offsets[], size_t element_sizes[], const void* buffers[]);

// read.cpp
herr_t read_bytes(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, void* buffer);
herr_t read_vector(H5FD_t* file, hid_t dxpl, uint32_t count, H5FD_mem_t types[], haddr_t addrs[],
                   size_t sizes[], void* buffers[]);
herr_t read_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, size_t count, hid_t memory_spaces[],
                      hid_t file_spaces[], haddr_t offsets[], size_t element_sizes[], void* buffers[]);

}  // namespace forebay::hdf5
