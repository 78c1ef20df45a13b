// One switch over the types for each kind of put and get.
#include "pnetcdf_history.hpp"

#include <utility>

#include "pnetcdf_call.hpp"

namespace forebay::bench {
namespace {

nc_type nc_type_of(Type type) {
  switch (type) {
    case Type::Float:
      return NC_FLOAT;
    case Type::Double:
      return NC_DOUBLE;
    case Type::Int:
      return NC_INT;
    case Type::Text:
      return NC_CHAR;
  }
  return NC_NAT;
}

}  // namespace

std::vector<int> define_history(int file, const History& history) {
  std::vector<int> ids;
  check(ncmpi_put_att_text(file, NC_GLOBAL, "title", static_cast<MPI_Offset>(history.title.size()),
                           history.title.c_str()),
        "ncmpi_put_att_text");
  int time = -1;
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &time), "ncmpi_def_dim");
  std::vector<int> dims;
  for (const Dimension& dimension : history.dimensions) {
    dims.push_back(-1);
    check(ncmpi_def_dim(file, dimension.name.c_str(), dimension.length, &dims.back()), "ncmpi_def_dim");
  }
  for (const Variable& variable : history.variables) {
    std::vector<int> over;
    if (variable.record) over.push_back(time);
    for (const int d : variable.dimensions) over.push_back(dims[static_cast<std::size_t>(d)]);
    int id = -1;
    check(ncmpi_def_var(file, variable.name.c_str(), nc_type_of(variable.type), static_cast<int>(over.size()),
                        over.data(), &id),
          "ncmpi_def_var");
    ids.push_back(id);
    for (const auto& [name, text] : {std::pair("units", &variable.units), {"long_name", &variable.long_name}})
      check(ncmpi_put_att_text(file, id, name, static_cast<MPI_Offset>(text->size()), text->c_str()),
            "ncmpi_put_att_text");
  }
  return ids;
}

void iput_pieces(int file, int id, const Variable& variable, const VarnLists& lists, const std::byte* values,
                 int* request) {
  MPI_Offset *const *starts = lists.starts(variable.record), *const *counts = lists.counts(variable.record);
  const int n = lists.size();
  switch (variable.type) {
    case Type::Float:
      return check(
          ncmpi_iput_varn_float(file, id, n, starts, counts, reinterpret_cast<const float*>(values), request),
          "ncmpi_iput_varn_float");
    case Type::Double:
      return check(ncmpi_iput_varn_double(file, id, n, starts, counts,
                                          reinterpret_cast<const double*>(values), request),
                   "ncmpi_iput_varn_double");
    case Type::Int:
      return check(
          ncmpi_iput_varn_int(file, id, n, starts, counts, reinterpret_cast<const int*>(values), request),
          "ncmpi_iput_varn_int");
    case Type::Text:
      return check(
          ncmpi_iput_varn_text(file, id, n, starts, counts, reinterpret_cast<const char*>(values), request),
          "ncmpi_iput_varn_text");
  }
}

void iput_whole(int file, int id, const Variable& variable, const Shape& shape, std::int64_t record,
                const std::byte* values, int* request) {
  std::vector<MPI_Offset> start(shape.size() + 1, 0), count(1, 1);
  start[0] = record;
  count.insert(count.end(), shape.begin(), shape.end());
  const std::size_t skip = variable.record ? 0 : 1;
  const MPI_Offset *s = start.data() + skip, *c = count.data() + skip;
  switch (variable.type) {
    case Type::Float:
      return check(ncmpi_iput_vara_float(file, id, s, c, reinterpret_cast<const float*>(values), request),
                   "ncmpi_iput_vara_float");
    case Type::Double:
      return check(ncmpi_iput_vara_double(file, id, s, c, reinterpret_cast<const double*>(values), request),
                   "ncmpi_iput_vara_double");
    case Type::Int:
      return check(ncmpi_iput_vara_int(file, id, s, c, reinterpret_cast<const int*>(values), request),
                   "ncmpi_iput_vara_int");
    case Type::Text:
      return check(ncmpi_iput_vara_text(file, id, s, c, reinterpret_cast<const char*>(values), request),
                   "ncmpi_iput_vara_text");
  }
}

void iget_pieces(int file, int id, const Variable& variable, const VarnLists& lists, std::byte* values,
                 int* request) {
  MPI_Offset *const *starts = lists.starts(variable.record), *const *counts = lists.counts(variable.record);
  const int n = lists.size();
  switch (variable.type) {
    case Type::Float:
      return check(
          ncmpi_iget_varn_float(file, id, n, starts, counts, reinterpret_cast<float*>(values), request),
          "ncmpi_iget_varn_float");
    case Type::Double:
      return check(
          ncmpi_iget_varn_double(file, id, n, starts, counts, reinterpret_cast<double*>(values), request),
          "ncmpi_iget_varn_double");
    case Type::Int:
      return check(ncmpi_iget_varn_int(file, id, n, starts, counts, reinterpret_cast<int*>(values), request),
                   "ncmpi_iget_varn_int");
    case Type::Text:
      return check(
          ncmpi_iget_varn_text(file, id, n, starts, counts, reinterpret_cast<char*>(values), request),
          "ncmpi_iget_varn_text");
  }
}

void iget_whole(int file, int id, const Variable& variable, const Shape& shape, std::int64_t record,
                std::byte* values, int* request) {
  std::vector<MPI_Offset> start(shape.size() + 1, 0), count(1, 1);
  start[0] = record;
  count.insert(count.end(), shape.begin(), shape.end());
  const std::size_t skip = variable.record ? 0 : 1;
  const MPI_Offset *s = start.data() + skip, *c = count.data() + skip;
  switch (variable.type) {
    case Type::Float:
      return check(ncmpi_iget_vara_float(file, id, s, c, reinterpret_cast<float*>(values), request),
                   "ncmpi_iget_vara_float");
    case Type::Double:
      return check(ncmpi_iget_vara_double(file, id, s, c, reinterpret_cast<double*>(values), request),
                   "ncmpi_iget_vara_double");
    case Type::Int:
      return check(ncmpi_iget_vara_int(file, id, s, c, reinterpret_cast<int*>(values), request),
                   "ncmpi_iget_vara_int");
    case Type::Text:
      return check(ncmpi_iget_vara_text(file, id, s, c, reinterpret_cast<char*>(values), request),
                   "ncmpi_iget_vara_text");
  }
}

}  // namespace forebay::bench
