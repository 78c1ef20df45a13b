// Our conversions of gets against PnetCDF's own: every pair of types, every boundary, in the values that
// arrive in memory and in NC_ERANGE.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "convert/get_converter.hpp"
#include "convert_values.hpp"

namespace forebay::test {
namespace {

int failures = 0;

void check(int error, const char* what) {
  if (error == NC_NOERR) return;
  std::fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(error));
  MPI_Abort(MPI_COMM_WORLD, 2);
}

#define FOREBAY_PUT(suffix, type)                                \
  int put_all(int file, int variable, const type* values) {      \
    return ncmpi_put_var_##suffix##_all(file, variable, values); \
  }
#define FOREBAY_GET(suffix, type)                                     \
  int get(int file, int variable, MPI_Offset at, type* value) {       \
    return ncmpi_get_var1_##suffix##_all(file, variable, &at, value); \
  }                                                                   \
  int get_all(int file, int variable, type* values) {                 \
    return ncmpi_get_var_##suffix##_all(file, variable, values);      \
  }
#define FOREBAY_BOTH(suffix, type) FOREBAY_PUT(suffix, type) FOREBAY_GET(suffix, type)
FOREBAY_BOTH(schar, signed char)
FOREBAY_BOTH(uchar, unsigned char)
FOREBAY_BOTH(short, short)
FOREBAY_BOTH(ushort, unsigned short)
FOREBAY_BOTH(int, int)
FOREBAY_BOTH(uint, unsigned int)
FOREBAY_BOTH(float, float)
FOREBAY_BOTH(double, double)
FOREBAY_BOTH(longlong, long long)
FOREBAY_BOTH(ulonglong, unsigned long long)
FOREBAY_GET(long, long)
#undef FOREBAY_BOTH
#undef FOREBAY_GET
#undef FOREBAY_PUT

// The type that PnetCDF's function for this type takes.
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

template <class Number>
std::vector<std::byte> big_endian(const std::vector<Number>& values) {
  std::vector<std::byte> stream(values.size() * sizeof(Number));
  std::memcpy(stream.data(), values.data(), stream.size());
  for (std::size_t i = 0; i < stream.size(); i += sizeof(Number)) {
    for (std::size_t low = i, high = i + sizeof(Number) - 1; low < high; ++low, --high)
      std::swap(stream[low], stream[high]);
  }
  return stream;
}

// A variable that holds every value, read element by element and at once.
template <class External, class Memory, class As = typename Stock<Memory>::type>
void compare(const std::string& path, int format, int external, int memory) {
  const std::vector<External> values = boundary_values<External>();
  const auto count = static_cast<MPI_Offset>(values.size());
  using Put = typename Stock<External>::type;
  static_assert(sizeof(As) == sizeof(Memory) && sizeof(Put) == sizeof(External));

  int file, dim, variable;
  const int mode = format == 1 ? 0 : format == 2 ? NC_64BIT_OFFSET : NC_64BIT_DATA;
  check(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | mode, MPI_INFO_NULL, &file), "create");
  check(ncmpi_def_dim(file, "n", count, &dim), "def_dim");
  check(ncmpi_def_var(file, "v", external, 1, &dim, &variable), "def_var");
  check(ncmpi_enddef(file), "enddef");
  check(put_all(file, variable, reinterpret_cast<const Put*>(values.data())), "put");

  const auto converter_of = [&](int type) {
    const auto fill = default_fill(static_cast<MemoryType>(memory), std::is_same_v<As, long>);
    return GetConverter(static_cast<ExternalType>(type), static_cast<MemoryType>(memory), fill.data(),
                        {.big_endian = true, .classic_bytes = format < 5});
  };
  const GetConverter converter = converter_of(external);
  const std::vector<std::byte> stream = big_endian(values);
  const auto report = [&](std::size_t i, const char* what) {
    if (++failures > 40) return;
    std::fprintf(stderr, "CDF-%d external %d memory %d value %s: %s\n", format, external, memory,
                 std::to_string(values[i]).c_str(), what);
  };

  std::vector<As> whole(values.size());
  const int whole_error = get_all(file, variable, whole.data());
  if (whole_error != NC_ERANGE) check(whole_error, "get_all");
  std::vector<Memory> ours(values.size());
  const bool any = converter.convert(stream.data(), reinterpret_cast<std::byte*>(ours.data()), values.size());
  if (any != (whole_error == NC_ERANGE)) report(0, "the whole array's range error differs");
  for (std::size_t i = 0; i < values.size(); ++i) {
    As theirs{};
    const int error = get(file, variable, static_cast<MPI_Offset>(i), &theirs);
    if (error != NC_ERANGE) check(error, "get");
    Memory one{};
    const bool bad = converter.convert(&stream[i * sizeof(External)], reinterpret_cast<std::byte*>(&one), 1);
    if (bad != (error == NC_ERANGE))
      report(i, bad ? "an error of ours alone" : "an error of PnetCDF's alone");
    if (std::memcmp(&one, &theirs, sizeof one) != 0) report(i, "values differ");
    if (std::memcmp(&ours[i], &whole[i], sizeof one) != 0) report(i, "values differ, at once");
  }
  check(ncmpi_close(file), "close");
}

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  using namespace forebay::test;
  MPI_Init(&argc, &argv);
  const std::string path = "get_convert_pnetcdf.nc";
  int pairs = 0;
  for (const int format : {1, 2, 5}) {
    for_each_number_type([&](auto external_tag, int external) {
      if (format < 5 && !classic_type(external)) return;
      for_each_number_type([&](auto memory_tag, int memory) {
        using External = typename decltype(external_tag)::type;
        using Memory = typename decltype(memory_tag)::type;
        compare<External, Memory>(path, format, external, memory);
        if constexpr (std::is_same_v<Memory, std::int64_t>)
          compare<External, Memory, long>(path, format, external, memory);
        ++pairs;
      });
    });
  }
  std::remove(path.c_str());
  std::printf("%d pairs of types and formats compared, %d differences\n", pairs, failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
