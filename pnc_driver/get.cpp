// Blocking gets are read by the core at once; nonblocking ones wait, and read nothing before.
#include "get.hpp"

#include <memory>
#include <type_traits>
#include <utility>

#include "arguments.hpp"
#include "errors.hpp"
#include "get_batch.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

template <class Arguments>
int get(OpenFile& file, int id, const Arguments& arguments, const GetBuffer& buffer, int how) {
  const bool together = (how & mode::collective) != 0;
  Request request;
  GetBatch batch(file);
  int err = NC_NOERR;
  if ((how & mode::zero) == 0) {
    err = guarded([&] {
      const int bad = understand(file, id, arguments, buffer.count, buffer.type, request);
      return bad != NC_NOERR ? bad : batch.add(request, buffer);
    });
  }
  constexpr bool is_list = std::is_same_v<Arguments, VarnArguments>;
  if (is_list && err == NC_NOERR && request.selection.elements > 0) file.gets.skip_number();
  if (together) {
    err = read_collective(file, batch, err);  // the others wait, whatever is wrong here
  } else if (err == NC_NOERR && batch.requests() > 0) {
    err = read_independent(file, batch);
  }
  return err == NC_NOERR && batch.requests() > 0 ? batch.finish(0) : err;
}

template <class Arguments>
int post(OpenFile& file, int id, const Arguments& arguments, const GetBuffer& buffer, int* number) {
  if (number != nullptr) *number = NC_REQ_NULL;
  auto get = std::make_unique<PendingGet>();
  if (int err = understand(file, id, arguments, buffer.count, buffer.type, get->request)) return err;
  if (get->request.selection.elements == 0) return NC_NOERR;
  get->buffer = buffer;
  if (!get->request.layout.contiguous) {
    if (MPI_Type_dup(buffer.type, get->type.address()) != MPI_SUCCESS) return NC_EMPI;
    get->buffer.type = get->type.get();
  }
  const int given = file.gets.add(std::move(get));
  if (number != nullptr) *number = given;
  return NC_NOERR;
}

}  // namespace

int get_var(void* object, int variable, Index start, Index count, Index stride, Index imap, void* buffer,
            MPI_Offset buffer_count, MPI_Datatype type, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.get_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                              type, how);
  }
  return guarded([&] {
    return get(file, variable, VarArguments{start, count, stride, imap}, {buffer, buffer_count, type}, how);
  });
}

int get_varn(void* object, int variable, int pieces, IndexList starts, IndexList counts, void* buffer,
             MPI_Offset buffer_count, MPI_Datatype type, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.get_varn(file.stock_file, variable, pieces, starts, counts, buffer, buffer_count, type,
                               how);
  }
  return guarded([&] {
    return get(file, variable, VarnArguments{pieces, starts, counts}, {buffer, buffer_count, type}, how);
  });
}

int iget_var(void* object, int variable, Index start, Index count, Index stride, Index imap, void* buffer,
             MPI_Offset buffer_count, MPI_Datatype type, int* request, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.iget_var(file.stock_file, variable, start, count, stride, imap, buffer, buffer_count,
                               type, request, how);
  }
  return guarded([&] {
    return post(file, variable, VarArguments{start, count, stride, imap}, {buffer, buffer_count, type},
                request);
  });
}

int iget_varn(void* object, int variable, int pieces, IndexList starts, IndexList counts, void* buffer,
              MPI_Offset buffer_count, MPI_Datatype type, int* request, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) {
    return file.stock.iget_varn(file.stock_file, variable, pieces, starts, counts, buffer, buffer_count, type,
                                request, how);
  }
  return guarded([&] {
    return post(file, variable, VarnArguments{pieces, starts, counts}, {buffer, buffer_count, type}, request);
  });
}

}  // namespace forebay::pnc
