// Blocking puts go to the core at once, collectively; nonblocking ones are kept, their data where PnetCDF
// would have them.
#include "put.hpp"

#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "arguments.hpp"
#include "batch.hpp"
#include "conversion.hpp"
#include "errors.hpp"
#include "open_file.hpp"
#include "stock_bytes.hpp"

namespace forebay::pnc {
namespace {

// PnetCDF swaps larger buffers in place, and so reads them at the wait only; smaller ones it copies at the
// call.
constexpr std::int64_t copied_up_to = 4096;

// The elements side by side (an imap counts in these). Where the buffer has gaps, `packed` holds a copy.
int close_gaps(const Request& request, const PutBuffer& buffer, std::unique_ptr<std::byte[]>& packed,
               const std::byte*& elements) {
  elements = static_cast<const std::byte*>(buffer.memory);
  if (request.layout.contiguous) return NC_NOERR;
  const std::int64_t bytes = request.memory_bytes();
  packed.reset(new std::byte[static_cast<std::size_t>(bytes)]);
  elements = packed.get();
  return pack(buffer.memory, buffer.count, buffer.type, packed.get(), bytes);
}

// ---- blocking ----

// Fills the batch with one put. Where the buffer has gaps, `packed` holds a copy for as long as the batch.
template <class Arguments>
int prepare(OpenFile& file, int id, const Arguments& arguments, const PutBuffer& buffer, Request& request,
            std::unique_ptr<std::byte[]>& packed, Batch& batch) {
  if (int err = understand(file, id, arguments, buffer.count, buffer.type, request)) return err;
  if (request.selection.elements == 0) return NC_NOERR;
  const std::byte* elements = nullptr;
  if (int err = close_gaps(request, buffer, packed, elements)) return err;
  if (!request.converts && !request.mapped)
    return batch.add(*request.variable, request.selection, elements, swap_of(*request.variable));
  Conversion conversion;
  if (int err = conversion_for(file, *request.variable, request.layout.element, conversion)) return err;
  return batch.add_converted(*request.variable, request.selection, elements, conversion, request.map());
}

template <class Arguments>
int put_independent(OpenFile& file, int id, const Arguments& arguments, const PutBuffer& buffer) {
  Request request;
  Batch batch(file);
  std::unique_ptr<std::byte[]> packed;
  if (int err = prepare(file, id, arguments, buffer, request, packed, batch)) return err;
  if (std::is_same_v<Arguments, VarnArguments>) file.puts.skip_number();
  if (request.selection.elements == 0) return NC_NOERR;
  if (int err = write_independent(file, batch)) return err;
  return batch.out_of_range() ? NC_ERANGE : NC_NOERR;
}

template <class Arguments>
int put_collective(OpenFile& file, int id, const Arguments& arguments, const PutBuffer& buffer, int how) {
  Request request;
  Batch batch(file);
  std::unique_ptr<std::byte[]> packed;
  int problem = NC_NOERR;
  if ((how & mode::zero) == 0)
    problem = guarded([&] { return prepare(file, id, arguments, buffer, request, packed, batch); });
  constexpr bool is_list = std::is_same_v<Arguments, VarnArguments>;
  if (is_list && problem == NC_NOERR && request.selection.elements > 0) file.puts.skip_number();
  bool unused = false;
  const int err = write_collective(file, batch, problem, unused);
  return err == NC_NOERR && batch.out_of_range() ? NC_ERANGE : err;
}

// In strict mode an independent put gains nothing here but by put_by_blocks, and the record count is
// PnetCDF's own driver's to keep.
bool takes(const OpenFile& file, int how) {
  return file.active() && ((how & mode::collective) != 0 || file.core->commits());
}

// In strict mode: whether an independent put was taken, since many short pieces of it are joined.
template <class Arguments>
bool put_by_blocks(OpenFile& file, int id, const Arguments& arguments, const PutBuffer& buffer, int& err) {
  if (!file.active() || file.share || !file.independent) return false;
  Request request;
  Batch batch(file);
  std::unique_ptr<std::byte[]> packed;
  bool taken = false;
  const int failed = guarded([&] {
    // What is wrong with it, PnetCDF's own driver says.
    if (prepare(file, id, arguments, buffer, request, packed, batch) != NC_NOERR ||
        request.selection.elements == 0 || !file.core->completes(batch.puts()))
      return NC_NOERR;
    taken = true;
    if (std::is_same_v<Arguments, VarnArguments>) file.puts.skip_number();
    err = write_independent(file, batch);
    if (err == NC_NOERR && batch.out_of_range()) err = NC_ERANGE;
    return NC_NOERR;
  });
  if (taken && failed != NC_NOERR) err = failed;
  return taken;
}

// Left to PnetCDF's own driver, while others may be completing blocks.
template <class Call>
int put_by_stock(OpenFile& file, int how, Call&& call) {
  const bool alone = file.active() && (how & mode::collective) == 0;
  if (alone) (void)file.core->begin_direct_writes(false);  // in strict mode nothing is kept
  const int err = count_stock_call(file, call);
  if (alone) file.core->end_direct_writes();
  return err;
}

template <class Arguments>
int put(OpenFile& file, int id, const Arguments& arguments, const PutBuffer& buffer, int how) {
  return (how & mode::collective) != 0 ? put_collective(file, id, arguments, buffer, how)
                                       : put_independent(file, id, arguments, buffer);
}

// ---- nonblocking ----

bool may_stay_in_place(const OpenFile& file, const Request& request, std::int64_t bytes) {
  if (!request.layout.contiguous || request.mapped || request.converts) return false;
  if (!needs_swap(request.variable->type, request.layout.element)) return true;
  if (file.in_place_swap != InPlaceSwap::automatic) return file.in_place_swap == InPlaceSwap::enabled;
  return bytes > copied_up_to;
}

// Copies the data, and tells what is left to do to them. NC_ERANGE is a remark.
int copy_data(OpenFile& file, const Request& request, const PutBuffer& buffer, std::byte* to, Swap& swap) {
  const std::int64_t elements = request.selection.elements;
  if (!request.converts && !request.mapped) {
    const std::int64_t bytes = elements * request.variable->element_bytes;
    swap = swap_of(*request.variable);
    if (!request.layout.contiguous) return pack(buffer.memory, buffer.count, buffer.type, to, bytes);
    std::memcpy(to, buffer.memory, static_cast<std::size_t>(bytes));
    return NC_NOERR;
  }
  std::unique_ptr<std::byte[]> packed;
  const std::byte* from = nullptr;
  if (int err = close_gaps(request, buffer, packed, from)) return err;
  Conversion conversion;
  if (int err = conversion_for(file, *request.variable, request.layout.element, conversion)) return err;
  swap = Swap::none;
  return copy_converted(from, elements, request.map(), conversion, to);
}

template <class Arguments>
int post(OpenFile& file, int id, const Arguments& arguments, const PutBuffer& buffer, int* number,
         bool buffered) {
  if (number != nullptr) *number = NC_REQ_NULL;
  if (buffered && !file.attached) return NC_ENULLABUF;
  Request request;
  if (int err = understand(file, id, arguments, buffer.count, buffer.type, request)) return err;
  if (request.selection.elements == 0) return NC_NOERR;
  const std::int64_t bytes = request.selection.elements * request.variable->element_bytes;

  auto put = std::make_unique<PendingPut>();
  put->variable = request.variable;
  int err = NC_NOERR;
  if (!buffered && may_stay_in_place(file, request, bytes)) {
    put->data = static_cast<const std::byte*>(buffer.memory);
    put->swap = swap_of(*put->variable);
  } else {
    std::byte* copy = nullptr;
    if (buffered) {
      put->slot = file.attached->take(bytes);
      if (put->slot < 0) return NC_EINSUFFBUF;
      copy = file.attached->memory(put->slot);
    } else {
      put->owned.reset(new std::byte[static_cast<std::size_t>(bytes)]);
      copy = put->owned.get();
    }
    err = guarded([&] { return copy_data(file, request, buffer, copy, put->swap); });
    if (err != NC_NOERR && err != NC_ERANGE) {
      if (buffered) file.attached->give_back(put->slot), file.attached->reclaim();
      return err;
    }
    put->data = copy;
  }
  put->selection = std::move(request.selection);
  const int given = file.puts.add(std::move(put));
  if (number != nullptr) *number = given;
  return err;
}

}  // namespace

int put_var(void* object, int variable, Index start, Index count, Index stride, Index imap,
            const void* buffer, MPI_Offset buffer_count, MPI_Datatype type, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!takes(file, how)) {
    int taken = NC_NOERR;
    if (put_by_blocks(file, variable, VarArguments{start, count, stride, imap}, {buffer, buffer_count, type},
                      taken))
      return taken;
    return put_by_stock(file, how, [&] {
      return file.stock.put_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                                type, how);
    });
  }
  return guarded([&] {
    return put(file, variable, VarArguments{start, count, stride, imap}, {buffer, buffer_count, type}, how);
  });
}

int put_varn(void* object, int variable, int pieces, IndexList starts, IndexList counts, const void* buffer,
             MPI_Offset buffer_count, MPI_Datatype type, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!takes(file, how)) {
    int taken = NC_NOERR;
    if (put_by_blocks(file, variable, VarnArguments{pieces, starts, counts}, {buffer, buffer_count, type},
                      taken))
      return taken;
    const int err = put_by_stock(file, how, [&] {
      return file.stock.put_varn(file.stock_file, variable, pieces, starts, counts, buffer, buffer_count,
                                 type, how);
    });
    if (file.active() && (err == NC_NOERR || err == NC_ERANGE)) file.puts.skip_number();
    // PnetCDF's own driver posts the put, and forgets to wait for it where a value was out of range.
    if (file.active() && err == NC_ERANGE) {
      const int waited =
          file.stock.wait(file.stock_file, NC_PUT_REQ_ALL, nullptr, nullptr, mode::independent);
      if (waited != NC_NOERR) return waited;
    }
    return err;
  }
  return guarded([&] {
    return put(file, variable, VarnArguments{pieces, starts, counts}, {buffer, buffer_count, type}, how);
  });
}

int iput_var(void* object, int variable, Index start, Index count, Index stride, Index imap,
             const void* buffer, MPI_Offset buffer_count, MPI_Datatype type, int* request, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.iput_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                               type, request, how);
  }
  return guarded([&] {
    return post(file, variable, VarArguments{start, count, stride, imap}, {buffer, buffer_count, type},
                request, false);
  });
}

int bput_var(void* object, int variable, Index start, Index count, Index stride, Index imap,
             const void* buffer, MPI_Offset buffer_count, MPI_Datatype type, int* request, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.bput_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                               type, request, how);
  }
  return guarded([&] {
    return post(file, variable, VarArguments{start, count, stride, imap}, {buffer, buffer_count, type},
                request, true);
  });
}

int iput_varn(void* object, int variable, int pieces, IndexList starts, IndexList counts, const void* buffer,
              MPI_Offset buffer_count, MPI_Datatype type, int* request, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.iput_varn(file.stock_file, variable, pieces, starts, counts, buffer, buffer_count, type,
                                request, how);
  }
  return guarded([&] {
    return post(file, variable, VarnArguments{pieces, starts, counts}, {buffer, buffer_count, type}, request,
                false);
  });
}

int bput_varn(void* object, int variable, int pieces, IndexList starts, IndexList counts, const void* buffer,
              MPI_Offset buffer_count, MPI_Datatype type, int* request, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.bput_varn(file.stock_file, variable, pieces, starts, counts, buffer, buffer_count, type,
                                request, how);
  }
  return guarded([&] {
    return post(file, variable, VarnArguments{pieces, starts, counts}, {buffer, buffer_count, type}, request,
                true);
  });
}

int buffer_attach(void* object, MPI_Offset bytes) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) return file.stock.buffer_attach(file.stock_file, bytes);
  if (bytes <= 0) return NC_ENULLBUF;
  if (file.attached) return NC_EPREVATTACHBUF;
  return guarded([&] {
    file.attached.emplace(bytes);
    return NC_NOERR;
  });
}

int buffer_detach(void* object) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) return file.stock.buffer_detach(file.stock_file);
  if (!file.attached) return NC_ENULLABUF;
  return guarded([&] {
    for (const PendingPut* put : file.puts.all()) {
      if (put->slot >= 0) return NC_EPENDINGBPUT;
    }
    file.attached.reset();
    return NC_NOERR;
  });
}

}  // namespace forebay::pnc
