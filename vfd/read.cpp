// HDF5's three read callbacks: by rounds where all read, else each rank for itself, near neighbours together.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "driver.hpp"
#include "errors.hpp"
#include "handle.hpp"
#include "ranks/agreement.hpp"
#include "request.hpp"
#include "views.hpp"

namespace forebay::hdf5 {
namespace {

constexpr std::int64_t kShare = 4 << 20;

/// Gathers the request's bytes in the order of its runs, by at most kShare of them.
class Packer {
 public:
  explicit Packer(std::span<const Get> gets) : gets_(gets) {
    for (const Get& get : gets_) get.cursor->start(std::int64_t{1} << 40);
  }
  /// Calls move(run, place in the share) until the share is full or all is taken; the share's length.
  template <class Move>
  std::int64_t next(Move&& move) {
    std::int64_t filled = 0;
    while (filled < kShare && refill()) {
      Run& run = batch_[at_];
      const std::int64_t part = std::min(run.length, kShare - filled);
      move(Run{run.file, run.stream, part}, filled);
      filled += part;
      run = {run.file + part, run.stream + part, run.length - part};
      if (run.length == 0) ++at_;
    }
    return filled;
  }

 private:
  bool refill() {
    while (at_ == count_ && get_ < gets_.size()) {
      at_ = 0;
      count_ = gets_[get_].cursor->take(kNoOffset, batch_);
      if (count_ == 0) ++get_;
    }
    return at_ < count_;
  }

  std::span<const Get> gets_;
  std::size_t get_ = 0;
  std::array<Run, 512> batch_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
};

/// This rank's part; others may wait for it afterwards, so no exception leaves.
Status read_gets(DriverFile& f, std::span<const Get> gets) {
  return contained([&] { return f.core->read(gets); });
}

/// All ranks read the same elements (HDF5 says so): rank 0 reads, the others receive. Their memory may look
/// different, so the bytes travel in the file's order.
Status read_on_root(DriverFile& f, std::span<const Get> gets, std::byte* memory, Status status) {
  const bool root = f.rank == 0;
  // What other nodes keep, rank 0 cannot write by itself, nor see where the file system does not show it.
  Status prepared = f.core->hides() ? f.core->barrier_around_read() : Status{};
  std::vector<std::byte> share;
  prepared.update(contained([&] {
    share.resize(static_cast<std::size_t>(kShare));
    return Status{};
  }));
  // Also the meeting before which all have written.
  if (Status all = agree_outcome(f.core->comm(), prepared); !all.ok()) return all;
  if (root && status.ok()) status = read_gets(f, gets);
  Packer packer(gets);
  for (;;) {
    std::int64_t length = -1;
    if (root && status.ok()) {
      length = packer.next([&](const Run& run, std::int64_t place) {
        std::memcpy(share.data() + place, memory + run.stream, static_cast<std::size_t>(run.length));
      });
    }
    MPI_Bcast(&length, 1, MPI_INT64_T, 0, f.comm);
    if (length < 0) return status.ok() ? Status{Code::peer, "rank 0 cannot read " + f.core->path()} : status;
    if (length == 0) return status;
    MPI_Bcast(share.data(), static_cast<int>(length), MPI_BYTE, 0, f.comm);
    if (root || !status.ok()) continue;
    const std::int64_t unpacked = packer.next([&](const Run& run, std::int64_t place) {
      std::memcpy(memory + run.stream, share.data() + place, static_cast<std::size_t>(run.length));
    });
    if (unpacked != length) status = {Code::internal, "rank 0 reads something else than this rank"};
  }
}

/// How the cursors of a read should go.
Order order_of(DriverFile& f) {
  return f.collective() && !f.atomic() && !f.context->get_mpio_rank0_bcast() ? Order::by_round : Order::free;
}

Status read_request(DriverFile& f, Request& request, Status status) {
  std::span<const Get> gets;
  if (status.ok()) {
    status = contained([&] {
      gets = request.gets();
      return Status{};
    });
  }
  // HDF5 gave the buffers as writable; the request keeps them as it keeps those of a write.
  auto* memory = const_cast<std::byte*>(request.memory());
  const bool collective = f.collective();
  if (f.atomic()) {
    status.update(f.core->begin_direct_reads(collective));
    status.update(read_atomic(f, gets, memory, collective));
  } else if (collective && f.context->get_mpio_rank0_bcast()) {
    status = read_on_root(f, gets, memory, std::move(status));
  } else if (collective) {
    // HDF5 writes chunks that a rank holds in its cache when it likes, also right before and after this: the
    // ranks begin and end together.
    status.update(f.core->read_all(gets));
  } else {
    status.update(read_gets(f, gets));
  }
  status.update(request.failure());
  return status;
}

}  // namespace

herr_t read_bytes(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, void* buffer) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) return f.stock->cls->read(f.stock, type, dxpl, addr, size, buffer);
  return guarded("read", [&]() -> Status {
    // Metadata is read by whoever needs it, by rank 0 alone while the superblock is looked for: never
    // together.
    if (type == H5FD_MEM_DRAW && f.collective()) {
      ViewTransfer transfer;
      transfer.offset = static_cast<MPI_Offset>(addr);
      transfer.buffer = buffer;
      transfer.count = static_cast<int>(size);
      if (f.context->get_mpi_coll_datatypes(&transfer.type, &transfer.file_type) < 0) {
        return {Code::internal, "HDF5 does not tell the datatypes of a collective read"};
      }
      H5FD_mpio_collective_opt_t option = H5FD_MPIO_COLLECTIVE_IO;
      f.context->get_mpio_coll_opt(&option);
      if (const std::int64_t bytes = bytes_of(transfer); bytes > 0) {
        ++f.core->counters().stock_gets;
        f.core->counters().stock_get_bytes += bytes;
      }
      if (Status status = f.core->begin_direct_reads(true); !status.ok()) return status;
      if (Status status = need_handle(f, true); !status.ok()) return status;
      return read_view(f, transfer, option == H5FD_MPIO_COLLECTIVE_IO, f.context->get_mpio_rank0_bcast());
    }
    if (!f.atomic()) {
      const auto offset = static_cast<std::int64_t>(addr), length = static_cast<std::int64_t>(size);
      // A rank of another node may have written an entry that its cache gave up.
      Status status = f.core->read_at(offset, buffer, length,
                                      type != H5FD_MEM_DRAW && f.writable ? Seen::by_any : Seen::since_met);
      if (!f.unwritten.empty()) f.unwritten.lay_over(offset, buffer, length);
      return status;
    }
    Request request(Order::free);
    if (Status status = request.add_bytes(addr, size, buffer); !status.ok()) return status;
    if (Status status = f.core->begin_direct_reads(false); !status.ok()) return status;
    return read_atomic(f, request.gets(), static_cast<std::byte*>(buffer), false);
  });
}

herr_t read_vector(H5FD_t* file, hid_t dxpl, uint32_t count, H5FD_mem_t types[], haddr_t addrs[],
                   size_t sizes[], void* buffers[]) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr)
    return f.stock->cls->read_vector(f.stock, dxpl, count, types, addrs, sizes, buffers);
  return guarded("read_vector", [&]() -> Status {
    Request request(order_of(f));
    Status status = contained([&] { return request.add_vector(count, addrs, sizes, buffers); });
    return read_request(f, request, std::move(status));
  });
}

herr_t read_selection(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, size_t count, hid_t memory_spaces[],
                      hid_t file_spaces[], haddr_t offsets[], size_t element_sizes[], void* buffers[]) {
  DriverFile& f = driver_file(file);
  if (f.stock != nullptr) {
    return f.stock->cls->read_selection(f.stock, type, dxpl, count, memory_spaces, file_spaces, offsets,
                                        element_sizes, buffers);
  }
  return guarded("read_selection", [&]() -> Status {
    Request request(order_of(f));
    Status status = contained([&] {
      return request.add_selections(count, memory_spaces, file_spaces, offsets, element_sizes, buffers);
    });
    return read_request(f, request, std::move(status));
  });
}

}  // namespace forebay::hdf5
