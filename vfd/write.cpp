// HDF5's three write callbacks. In strict mode all of them return with the bytes in the file; a collective
// one returns on no rank before they are there from all ranks. In commit mode so do metadata, what comes by
// vector (fill values of chunks, and filtered chunks: HDF5 counts on their being there), and what comes byte
// by byte (rank 0's fill values of a contiguous dataset: the others write data over them next).
#include <array>
#include <cstdint>
#include <span>

#include "driver.hpp"
#include "errors.hpp"
#include "handle.hpp"
#include "purpose.hpp"
#include "ranks/agreement.hpp"
#include "request.hpp"
#include "views.hpp"

namespace forebay::hdf5 {
namespace {

/// HDF5 shares the writing of metadata out among the ranks and meets in barriers of its own in between: a
/// rank that gave up there would leave the others waiting for ever (as it does with the stock driver), and on
/// one rank HDF5 could not close its library. So it is kept for the next flush or close, which returns the
/// failure on every rank if it fails again. `pieces`: f(offset, bytes, length) for each of this rank's.
template <class Pieces>
Status without_leaving_others(DriverFile& f, Status status, Pieces&& pieces) {
  if (status.ok()) return status;
  bool kept = true;
  pieces([&](std::int64_t offset, const void* bytes, std::int64_t length) {
    kept = kept && f.unwritten.keep(*f.core, offset, bytes, length);
  });
  // Said at once as well: a program may end without a close that returns anything.
  warn_few("metadata is missing in the file, the next flush or close tries again", status.message());
  if (!kept) f.core->defer(std::move(status));
  return {};
}

/// Calls f(offset, bytes, length). A size of 0 means that of the piece before, from here on.
template <class F>
void each_piece(std::uint32_t count, const haddr_t addrs[], const size_t sizes[], const void* const buffers[],
                F&& f) {
  bool same = false;
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    same = same || sizes[i] == 0;
    if (!same) size = sizes[i];
    f(static_cast<std::int64_t>(addrs[i]), buffers[i], static_cast<std::int64_t>(size));
  }
}

/// What the collective call owes the others is done also where this rank's own part is wrong (`status`).
/// `agree_max`: as in CoreFile::write_all.
Status write_request(DriverFile& f, Request& request, Status status, When when,
                     std::span<std::int64_t> agree_max = {}) {
  std::span<const Put> puts;
  if (status.ok()) {
    status = contained([&] {
      puts = request.puts();
      return Status{};
    });
  }
  const bool collective = f.collective();
  f.eof = HADDR_UNDEF;
  if (f.atomic()) {
    status.update(f.core->begin_direct_writes(collective));
    status.update(write_atomic(f, puts, request.memory(), collective));
    f.core->end_direct_writes();
    status.update(f.core->show_direct_writes());  // any rank may read it now
    if (collective && !agree_max.empty())
      MPI_Allreduce(MPI_IN_PLACE, agree_max.data(), static_cast<int>(agree_max.size()), MPI_INT64_T, MPI_MAX,
                    f.comm);
  } else if (collective) {
    // Also where the program asked for individual transfers within a collective call: all ranks are here all
    // the same.
    Status written = f.core->write_all(puts, agree_max, when);
    if (f.sync_required) written.update(f.core->sync());
    status.update(std::move(written));
  } else if (!puts.empty()) {
    status.update(f.core->write(puts, when));
  }
  status.update(request.failure());
  return status;
}

}  // namespace

herr_t write_bytes(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, const void* buffer) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->write(f.stock, type, dxpl, addr, size, buffer);
  return guarded("write", [&]() -> Status {
    if (f.collective()) {
      // `size` counts a datatype that waits in the API context, and differs from rank to rank.
      ViewTransfer transfer;
      transfer.offset = static_cast<MPI_Offset>(addr);
      transfer.buffer = const_cast<void*>(buffer);
      transfer.count = static_cast<int>(size);
      if (f.context->get_mpi_coll_datatypes(&transfer.type, &transfer.file_type) < 0) {
        return {Code::internal, "HDF5 does not tell the datatypes of a collective write"};
      }
      H5FD_mpio_collective_opt_t option = H5FD_MPIO_COLLECTIVE_IO;
      f.context->get_mpio_coll_opt(&option);
      f.eof = HADDR_UNDEF;
      if (const std::int64_t bytes = bytes_of(transfer); bytes > 0) {
        ++f.core->counters().stock_puts;
        f.core->counters().stock_put_bytes += bytes;
      }
      if (Status made = need_handle(f, true); !made.ok()) return made;
      Status status = f.core->begin_direct_writes(true);  // MPI-IO knows nothing of what is kept
      status.update(contained([&] { return write_view(f, transfer, option == H5FD_MPIO_COLLECTIVE_IO); }));
      f.core->end_direct_writes();
      status.update(f.core->show_direct_writes());
      return agree_outcome(f.core->comm(), status);
    }
    f.eof = HADDR_UNDEF;
    Status status;
    Accounting accounting(f, dxpl);
    const Purpose purpose = purpose_of_bytes(f, type);
    Counters& counters = f.core->counters();
    ++counters.independent_writes;
    ++counters.requests;
    ++counters.pieces;
    counters.bytes += static_cast<std::int64_t>(size);
    if (f.atomic()) {
      Request request(Order::by_round);
      status = request.add_bytes(addr, size, buffer);
      status = write_request(f, request, std::move(status), When::before_return);
    } else {
      // HDF5 lets other ranks write over a fill value, or read metadata, after a barrier; a flush shows all.
      const bool waits = purpose == Purpose::data || f.context->get_mpi_file_flushing();
      status = f.core->write_at(static_cast<std::int64_t>(addr), buffer, static_cast<std::int64_t>(size),
                                waits ? When::as_the_mode_says : When::before_return);
    }
    accounting.close(purpose);
    const auto offset = static_cast<std::int64_t>(addr), length = static_cast<std::int64_t>(size);
    if (status.ok() && !f.unwritten.empty()) f.unwritten.forget(offset, length);
    if (type == H5FD_MEM_DRAW) return status;
    return without_leaving_others(f, std::move(status), [&](auto&& keep) { keep(offset, buffer, length); });
  });
}

herr_t write_vector(H5FD_t* file, hid_t dxpl, uint32_t count, H5FD_mem_t types[], haddr_t addrs[],
                    size_t sizes[], const void* buffers[]) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr)
    return f.stock->cls->write_vector(f.stock, dxpl, count, types, addrs, sizes, buffers);
  return guarded("write_vector", [&]() -> Status {
    Request request(Order::by_round);
    Status status = contained([&] { return request.add_vector(count, addrs, sizes, buffers); });
    // Together, ranks that have none of it do not know what it is.
    const Purpose mine = purpose_of_vector(count, types, buffers, dxpl);
    std::array<std::int64_t, 2> own{mine == Purpose::metadata ? 1 : 0, mine == Purpose::fill ? 1 : 0};
    Accounting accounting(f, dxpl);
    status = write_request(f, request, std::move(status), When::before_return, own);
    accounting.close(own[0] != 0 ? Purpose::metadata : own[1] != 0 ? Purpose::fill : Purpose::data);
    if (status.ok() && !f.unwritten.empty())
      each_piece(count, addrs, sizes, buffers, [&](std::int64_t offset, const void*, std::int64_t length) {
        f.unwritten.forget(offset, length);
      });
    if (own[0] == 0) return status;
    return without_leaving_others(f, std::move(status),
                                  [&](auto&& keep) { each_piece(count, addrs, sizes, buffers, keep); });
  });
}

herr_t write_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, size_t count, hid_t memory_spaces[],
                       hid_t file_spaces[], haddr_t offsets[], size_t element_sizes[],
                       const void* buffers[]) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) {
    return f.stock->cls->write_selection(f.stock, type, dxpl, count, memory_spaces, file_spaces, offsets,
                                         element_sizes, buffers);
  }
  return guarded("write_selection", [&]() -> Status {
    Request request(Order::by_round);
    Status status = contained([&] {
      return request.add_selections(count, memory_spaces, file_spaces, offsets, element_sizes, buffers);
    });
    // In a file of pages HDF5 frees small pieces of raw data without asking anything.
    const bool may_wait = type == H5FD_MEM_DRAW && !(f.watches_space && f.pub.paged_aggr);
    const When when = may_wait ? When::as_the_mode_says : When::before_return;
    Accounting accounting(f, dxpl);
    status = write_request(f, request, std::move(status), when);
    accounting.close(type == H5FD_MEM_DRAW ? Purpose::data : Purpose::metadata);
    return status;
  });
}

}  // namespace forebay::hdf5
