// From the arguments of a data call to a selection and a buffer's layout.
#include "arguments.hpp"

#include "open_file.hpp"

namespace forebay::pnc {
namespace {

int select(OpenFile&, const Variable& variable, const VarArguments& arguments, Request& request) {
  if (int err = select_block(variable, arguments.start, arguments.count, arguments.stride, request.selection))
    return err;
  request.mapped = is_mapped({arguments.count, variable.dims()}, arguments.imap);
  if (request.mapped) {
    request.mapping.count.assign(arguments.count, arguments.count + variable.dims());
    request.mapping.imap.assign(arguments.imap, arguments.imap + variable.dims());
  }
  return NC_NOERR;
}

int select(OpenFile& file, const Variable& variable, const VarnArguments& arguments, Request& request) {
  return file.lists.select(variable, arguments.pieces, arguments.starts, arguments.counts, request.selection);
}

template <class Arguments>
int understand_any(OpenFile& file, int id, const Arguments& arguments, MPI_Offset count, MPI_Datatype type,
                   Request& request) {
  if (int err = file.variables.find(id, request.variable)) return err;
  if (int err = select(file, *request.variable, arguments, request)) return err;
  const nc_type external = request.variable->type;
  if (int err = understand_buffer(external, request.selection.elements, count, type, request.layout))
    return err;
  request.converts = needs_conversion(file.cdf_format, external, request.layout.element);
  return NC_NOERR;
}

}  // namespace

int understand(OpenFile& file, int variable, const VarArguments& arguments, MPI_Offset count,
               MPI_Datatype type, Request& request) {
  return understand_any(file, variable, arguments, count, type, request);
}

int understand(OpenFile& file, int variable, const VarnArguments& arguments, MPI_Offset count,
               MPI_Datatype type, Request& request) {
  return understand_any(file, variable, arguments, count, type, request);
}

}  // namespace forebay::pnc
