// Our conversions against PnetCDF's own: every pair of types, every boundary, in the bytes of the file and in
// NC_ERANGE.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "convert/convert.hpp"
#include "convert_values.hpp"

namespace forebay::test {
namespace {

int failures = 0;

void check(int error, const char* what) {
  if (error == NC_NOERR) return;
  std::fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 2);
}

#define FOREBAY_PUT(suffix, type)                                     \
  int put(int file, int variable, MPI_Offset at, const type* value) { \
    return ncmpi_put_var1_##suffix##_all(file, variable, &at, value); \
  }                                                                   \
  int put_all(int file, int variable, const type* values) {           \
    return ncmpi_put_var_##suffix##_all(file, variable, values);      \
  }
FOREBAY_PUT(schar, signed char)
FOREBAY_PUT(uchar, unsigned char)
FOREBAY_PUT(short, short)
FOREBAY_PUT(ushort, unsigned short)
FOREBAY_PUT(int, int)
FOREBAY_PUT(uint, unsigned int)
FOREBAY_PUT(float, float)
FOREBAY_PUT(double, double)
FOREBAY_PUT(longlong, long long)
FOREBAY_PUT(ulonglong, unsigned long long)
FOREBAY_PUT(long, long)
#undef FOREBAY_PUT

// The type that PnetCDF's function for this memory type takes.
template <class T>
struct Stock {
  using type = T;
};
template <>
struct Stock<std::int64_t> {
  using type = long long;
};
template <>
struct Stock<std::uint64_t> {
  using type = unsigned long long;
};

constexpr bool classic_type(int external) {
  return external <= 6;
}

// Two variables of one type: one written element by element, one at once. Then the file's bytes are compared.
template <class To, class From, class As = typename Stock<From>::type>
void compare(const std::string& path, int format, int external, int memory, bool own_fill) {
  const std::vector<From> values = boundary_values<From>();
  const auto count = static_cast<MPI_Offset>(values.size());
  const auto* stock_values = reinterpret_cast<const As*>(values.data());
  static_assert(sizeof(As) == sizeof(From));

  int file, dim, single, whole;
  const int mode = format == 1 ? 0 : format == 2 ? NC_64BIT_OFFSET : NC_64BIT_DATA;
  check(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | mode, MPI_INFO_NULL, &file), "create");
  check(ncmpi_def_dim(file, "n", count, &dim), "def_dim");
  check(ncmpi_def_var(file, "single", external, 1, &dim, &single), "def_var");
  check(ncmpi_def_var(file, "whole", external, 1, &dim, &whole), "def_var");
  To fill;
  std::memcpy(&fill, default_fill(static_cast<ExternalType>(external)).data(), sizeof fill);
  if (own_fill) {
    fill = static_cast<To>(42);
    for (const int variable : {single, whole})
      check(ncmpi_def_var_fill(file, variable, 0, &fill), "def_var_fill");
  }
  check(ncmpi_enddef(file), "enddef");
  std::vector<bool> stock_bad;
  for (MPI_Offset i = 0; i < count; ++i) {
    const int error = put(file, single, i, stock_values + i);
    if (error != NC_ERANGE) check(error, "put");
    stock_bad.push_back(error == NC_ERANGE);
  }
  const int whole_error = put_all(file, whole, stock_values);
  if (whole_error != NC_ERANGE) check(whole_error, "put_all");
  MPI_Offset single_at, whole_at;
  check(ncmpi_inq_varoffset(file, single, &single_at), "inq_varoffset");
  check(ncmpi_inq_varoffset(file, whole, &whole_at), "inq_varoffset");
  check(ncmpi_close(file), "close");

  const std::size_t bytes = values.size() * sizeof(To);
  std::vector<std::byte> from_single(bytes), from_whole(bytes), ours(bytes);
  std::FILE* raw = std::fopen(path.c_str(), "rb");
  if (raw == nullptr || std::fseek(raw, single_at, SEEK_SET) != 0 ||
      std::fread(from_single.data(), 1, bytes, raw) != bytes || std::fseek(raw, whole_at, SEEK_SET) != 0 ||
      std::fread(from_whole.data(), 1, bytes, raw) != bytes) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::fclose(raw);

  const ConvertOptions options{.big_endian = true, .classic_bytes = format < 5};
  const bool any = convert(static_cast<ExternalType>(external), static_cast<MemoryType>(memory),
                           values.data(), ours.data(), values.size(), &fill, options);
  const auto report = [&](std::size_t i, const char* what) {
    if (++failures > 40) return;
    std::fprintf(stderr, "CDF-%d external %d memory %d value %s: %s\n", format, external, memory,
                 std::to_string(values[i]).c_str(), what);
  };
  if (any != (whole_error == NC_ERANGE)) report(0, "the whole array's range error differs");
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte one[sizeof(To)];
    const bool bad = convert(static_cast<ExternalType>(external), static_cast<MemoryType>(memory), &values[i],
                             one, 1, &fill, options);
    if (bad != stock_bad[i]) report(i, bad ? "an error of ours alone" : "an error of PnetCDF's alone");
    if (std::memcmp(one, &from_single[i * sizeof(To)], sizeof(To)) != 0) report(i, "bytes differ");
    if (std::memcmp(&ours[i * sizeof(To)], &from_whole[i * sizeof(To)], sizeof(To)) != 0)
      report(i, "bytes differ, at once");
  }
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  using namespace forebay::test;
  MPI_Init(&argc, &argv);
  const std::string path = "convert_pnetcdf.nc";
  int pairs = 0;
  for (const int format : {1, 2, 5}) {
    for_each_number_type([&](auto to_tag, int external) {
      if (format < 5 && !classic_type(external)) return;
      for_each_number_type([&](auto from_tag, int memory) {
        using To = typename decltype(to_tag)::type;
        using From = typename decltype(from_tag)::type;
        for (const bool own_fill : {false, true}) {
          compare<To, From>(path, format, external, memory, own_fill);
          if constexpr (std::is_same_v<From, std::int64_t>)
            compare<To, From, long>(path, format, external, memory, own_fill);
        }
        ++pairs;
      });
    });
  }
  std::remove(path.c_str());
  std::printf("%d pairs of types and formats compared, %d differences\n", pairs, failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
