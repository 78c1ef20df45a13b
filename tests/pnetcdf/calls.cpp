// The table of typed functions, and the one place that chooses among PnetCDF's 1000 put and get functions.
#include "calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace forebay::test {
namespace {

using Offsets = const MPI_Offset*;
using Lists = MPI_Offset* const*;

// The typed functions of one memory type, with the buffer as void*, by method.
struct Typed {
  int (*var1[methods])(int, int, Offsets, void*, int*);
  int (*var[methods])(int, int, void*, int*);
  int (*vara[methods])(int, int, Offsets, Offsets, void*, int*);
  int (*vars[methods])(int, int, Offsets, Offsets, Offsets, void*, int*);
  int (*varm[methods])(int, int, Offsets, Offsets, Offsets, Offsets, void*, int*);
  int (*varn[methods])(int, int, int, Lists, Lists, void*, int*);
};

// One entry: the function NAME##_all or NAME, or the one that posts a request.
#define FOREBAY_TEST_WAIT(name, C, parameters, ...) \
  [](int f, int v, FOREBAY_TEST_LIST parameters void* b, int*) { return name(__VA_ARGS__, (C*)b); }
#define FOREBAY_TEST_POST(name, C, parameters, ...) \
  [](int f, int v, FOREBAY_TEST_LIST parameters void* b, int* r) { return name(__VA_ARGS__, (C*)b, r); }
#define FOREBAY_TEST_LIST(...) __VA_ARGS__
#define FOREBAY_TEST_METHODS(kind, suffix, C, parameters, ...)                          \
  {                                                                                     \
      FOREBAY_TEST_WAIT(ncmpi_put_##kind##_##suffix##_all, C, parameters, __VA_ARGS__), \
      FOREBAY_TEST_WAIT(ncmpi_put_##kind##_##suffix, C, parameters, __VA_ARGS__),       \
      FOREBAY_TEST_POST(ncmpi_iput_##kind##_##suffix, C, parameters, __VA_ARGS__),      \
      FOREBAY_TEST_POST(ncmpi_bput_##kind##_##suffix, C, parameters, __VA_ARGS__),      \
      FOREBAY_TEST_WAIT(ncmpi_get_##kind##_##suffix##_all, C, parameters, __VA_ARGS__), \
      FOREBAY_TEST_WAIT(ncmpi_get_##kind##_##suffix, C, parameters, __VA_ARGS__),       \
      FOREBAY_TEST_POST(ncmpi_iget_##kind##_##suffix, C, parameters, __VA_ARGS__),      \
  }
#define FOREBAY_TEST_TYPED(suffix, C)                                                                        \
  Typed {                                                                                                    \
    FOREBAY_TEST_METHODS(var1, suffix, C, (Offsets s, ), f, v, s),                                           \
        FOREBAY_TEST_METHODS(var, suffix, C, (), f, v),                                                      \
        FOREBAY_TEST_METHODS(vara, suffix, C, (Offsets s, Offsets c, ), f, v, s, c),                         \
        FOREBAY_TEST_METHODS(vars, suffix, C, (Offsets s, Offsets c, Offsets d, ), f, v, s, c, d),           \
        FOREBAY_TEST_METHODS(varm, suffix, C, (Offsets s, Offsets c, Offsets d, Offsets m, ), f, v, s, c, d, \
                             m),                                                                             \
        FOREBAY_TEST_METHODS(varn, suffix, C, (int n, Lists s, Lists c, ), f, v, n, s, c),                   \
  }

const Typed typed[memory_types] = {
    FOREBAY_TEST_TYPED(text, char),
    FOREBAY_TEST_TYPED(schar, signed char),
    FOREBAY_TEST_TYPED(uchar, unsigned char),
    FOREBAY_TEST_TYPED(short, short),
    FOREBAY_TEST_TYPED(ushort, unsigned short),
    FOREBAY_TEST_TYPED(int, int),
    FOREBAY_TEST_TYPED(uint, unsigned int),
    FOREBAY_TEST_TYPED(long, long),
    FOREBAY_TEST_TYPED(float, float),
    FOREBAY_TEST_TYPED(double, double),
    FOREBAY_TEST_TYPED(longlong, long long),
    FOREBAY_TEST_TYPED(ulonglong, unsigned long long),
};

int perform_typed(int f, Call& c, Lists starts, Lists counts) {
  const Typed& t = typed[c.memory];
  const auto m = static_cast<std::size_t>(c.method);
  void* b = c.buffer.data();
  int* r = &c.request;
  switch (c.shape) {
    case Shape::var1:
      return t.var1[m](f, c.variable, c.start.data(), b, r);
    case Shape::var:
      return t.var[m](f, c.variable, b, r);
    case Shape::vara:
      return t.vara[m](f, c.variable, c.start.data(), c.count.data(), b, r);
    case Shape::vars:
      return t.vars[m](f, c.variable, c.start.data(), c.count.data(), c.stride.data(), b, r);
    case Shape::varm:
      return t.varm[m](f, c.variable, c.start.data(), c.count.data(), c.stride.data(), c.imap.data(), b, r);
    case Shape::varn:
      return t.varn[m](f, c.variable, static_cast<int>(c.starts.size()), starts, counts, b, r);
  }
  return NC_EINVAL;
}

int perform_flexible(int f, Call& c, Lists starts, Lists counts, MPI_Offset n, MPI_Datatype type) {
  void* b = c.buffer.data();
  int* r = &c.request;
  const int v = c.variable;
  const Offsets start = c.start.data(), count = c.count.data(), stride = c.stride.data(),
                imap = c.imap.data();
  const int pieces = static_cast<int>(c.starts.size());
#define FOREBAY_TEST_CHOOSE(name, ...)                        \
  switch (c.method) {                                         \
    case Method::collective:                                  \
      return ncmpi_put_##name##_all(__VA_ARGS__, b, n, type); \
    case Method::independent:                                 \
      return ncmpi_put_##name(__VA_ARGS__, b, n, type);       \
    case Method::iput:                                        \
      return ncmpi_iput_##name(__VA_ARGS__, b, n, type, r);   \
    case Method::bput:                                        \
      return ncmpi_bput_##name(__VA_ARGS__, b, n, type, r);   \
    case Method::get_all:                                     \
      return ncmpi_get_##name##_all(__VA_ARGS__, b, n, type); \
    case Method::get:                                         \
      return ncmpi_get_##name(__VA_ARGS__, b, n, type);       \
    case Method::iget:                                        \
      return ncmpi_iget_##name(__VA_ARGS__, b, n, type, r);   \
  }                                                           \
  break
  switch (c.shape) {
    case Shape::var1:
      FOREBAY_TEST_CHOOSE(var1, f, v, start);
    case Shape::var:
      FOREBAY_TEST_CHOOSE(var, f, v);
    case Shape::vara:
      FOREBAY_TEST_CHOOSE(vara, f, v, start, count);
    case Shape::vars:
      FOREBAY_TEST_CHOOSE(vars, f, v, start, count, stride);
    case Shape::varm:
      FOREBAY_TEST_CHOOSE(varm, f, v, start, count, stride, imap);
    case Shape::varn:
      FOREBAY_TEST_CHOOSE(varn, f, v, pieces, starts, counts);
  }
#undef FOREBAY_TEST_CHOOSE
  return NC_EINVAL;
}

std::uint64_t next(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

template <class T>
T value_of(std::uint64_t random, bool wild) {
  if (wild && random % 5 == 0) {
    constexpr double doubles[] = {300,  -1,    -200, 70000, -40000, 5e9,     -3e9,
                                  1e19, -1e19, 3e38, 1e300, -1e300, 65535.5, 127.9};
    const double value = doubles[random / 5 % std::size(doubles)];
    if constexpr (std::is_floating_point_v<T>) {
      return value > std::numeric_limits<T>::max()      ? std::numeric_limits<T>::max()
             : value < std::numeric_limits<T>::lowest() ? std::numeric_limits<T>::lowest()
                                                        : static_cast<T>(value);
    } else {
      return random & 64    ? std::numeric_limits<T>::max()
             : random & 128 ? std::numeric_limits<T>::min()
                            : static_cast<T>(random >> 8);
    }
  }
  return static_cast<T>(random % 100 + 1);
}

void store(std::byte* to, Memory memory, std::uint64_t random, bool wild) {
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (memory) {
    case text:
      return put(static_cast<char>('a' + random % 26));
    case schar:
      return put(value_of<signed char>(random, wild));
    case uchar:
      return put(value_of<unsigned char>(random, wild));
    case short_:
      return put(value_of<short>(random, wild));
    case ushort_:
      return put(value_of<unsigned short>(random, wild));
    case int_:
      return put(value_of<int>(random, wild));
    case uint_:
      return put(value_of<unsigned>(random, wild));
    case long_:
      return put(value_of<long>(random, wild));
    case float_:
      return put(value_of<float>(random, wild));
    case double_:
      return put(value_of<double>(random, wild));
    case longlong:
      return put(value_of<long long>(random, wild));
    case ulonglong:
      return put(value_of<unsigned long long>(random, wild));
    case memory_types:
      break;
  }
}

std::vector<MPI_Offset*> pointers(std::vector<std::vector<MPI_Offset>>& lists) {
  std::vector<MPI_Offset*> result;
  for (auto& list : lists) result.push_back(list.empty() ? nullptr : list.data());
  return result;
}

void scribble(std::vector<MPI_Offset>& numbers) {
  std::fill(numbers.begin(), numbers.end(), -77);
}

// With gaps, elements lie at 0, 2, 3, 5, 6, 8, …: blocks of two, three apart; the last may be half.
std::int64_t place_with_gaps(std::int64_t element) {
  return element / 2 * 3 + element % 2;
}

}  // namespace

const char* name_of(Shape shape) {
  constexpr const char* names[] = {"var1", "var", "vara", "vars", "varm", "varn"};
  return names[static_cast<int>(shape)];
}
const char* name_of(Method method) {
  constexpr const char* names[] = {"put_all", "put", "iput", "bput", "get_all", "get", "iget"};
  return names[static_cast<int>(method)];
}
const char* name_of(Face face) {
  constexpr const char* names[] = {"typed", "flexible", "gaps", "as_variable"};
  return names[static_cast<int>(face)];
}
const char* name_of(Memory memory) {
  constexpr const char* names[] = {"text", "schar", "uchar", "short",  "ushort",   "int",
                                   "uint", "long",  "float", "double", "longlong", "ulonglong"};
  return names[memory];
}
std::size_t size_of(Memory memory) {
  constexpr std::size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, sizeof(long), 4, 8, 8, 8};
  return sizes[memory];
}
MPI_Datatype mpi_type_of(Memory memory) {
  const MPI_Datatype types[] = {MPI_CHAR,     MPI_SIGNED_CHAR,    MPI_UNSIGNED_CHAR,
                                MPI_SHORT,    MPI_UNSIGNED_SHORT, MPI_INT,
                                MPI_UNSIGNED, MPI_LONG,           MPI_FLOAT,
                                MPI_DOUBLE,   MPI_LONG_LONG_INT,  MPI_UNSIGNED_LONG_LONG};
  return types[memory];
}
Memory memory_of(nc_type type) {
  switch (type) {
    case NC_CHAR:
      return text;
    case NC_BYTE:
      return schar;
    case NC_UBYTE:
      return uchar;
    case NC_SHORT:
      return short_;
    case NC_USHORT:
      return ushort_;
    case NC_INT:
      return int_;
    case NC_UINT:
      return uint_;
    case NC_FLOAT:
      return float_;
    case NC_DOUBLE:
      return double_;
    case NC_INT64:
      return longlong;
    case NC_UINT64:
      return ulonglong;
    default:
      return memory_types;
  }
}

std::vector<nc_type> external_types(int format) {
  std::vector<nc_type> types{NC_CHAR, NC_BYTE, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE};
  if (format == 5) types.insert(types.end(), {NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64});
  return types;
}

const char* name_of_type(nc_type type) {
  constexpr const char* names[] = {"nat",    "byte",  "char",   "short", "int",   "float",
                                   "double", "ubyte", "ushort", "uint",  "int64", "uint64"};
  return names[type];
}

void fill_buffer(Call& call, std::uint64_t seed, bool wild) {
  const std::size_t size = size_of(call.memory);
  std::int64_t places = call.elements;
  if (call.shape == Shape::varm && call.elements > 0) {
    places = 1;
    for (std::size_t d = 0; d < call.imap.size(); ++d) places += (call.count[d] - 1) * call.imap[d];
  }
  if (call.face == Face::gaps) places = place_with_gaps(places) + 1;
  call.buffer.resize(static_cast<std::size_t>(places) * size + 8);
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < places; ++i) {
    store(call.buffer.data() + static_cast<std::size_t>(i) * size, call.memory, next(state), wild);
  }
  call.before = call.buffer;
}

int perform(int file, Call& call) {
  std::vector<MPI_Offset*> starts = pointers(call.starts);
  std::vector<MPI_Offset*> counts = pointers(call.counts);
  const Lists counts_or_null = counts.empty() ? nullptr : counts.data();
  int err = NC_NOERR;
  if (call.face == Face::typed) {
    err = perform_typed(file, call, starts.data(), counts_or_null);
  } else if (call.face == Face::flexible) {
    err =
        perform_flexible(file, call, starts.data(), counts_or_null, call.elements, mpi_type_of(call.memory));
  } else if (call.face == Face::as_variable) {
    err = perform_flexible(file, call, starts.data(), counts_or_null, 0, MPI_DATATYPE_NULL);
  } else {
    std::int64_t places = call.elements;
    if (call.shape == Shape::varm && call.elements > 0) {
      places = 1;
      for (std::size_t d = 0; d < call.imap.size(); ++d) places += (call.count[d] - 1) * call.imap[d];
    }
    std::vector<int> lengths, displacements;
    for (std::int64_t i = 0; i < places; i += 2) {
      lengths.push_back(i + 1 < places ? 2 : 1);
      displacements.push_back(static_cast<int>(place_with_gaps(i)));
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), displacements.data(),
                     mpi_type_of(call.memory), &type);
    MPI_Type_commit(&type);
    err = perform_flexible(file, call, starts.data(), counts_or_null, 1, type);
    MPI_Type_free(&type);  // a program may do so at once
  }
  scribble(call.start);
  scribble(call.count);
  scribble(call.stride);
  scribble(call.imap);
  for (auto& list : call.starts) scribble(list);
  for (auto& list : call.counts) scribble(list);
  if (call.method == Method::bput) {
    std::fill(call.buffer.begin(), call.buffer.end(), std::byte{0xEE});
    call.before = call.buffer;
  }
  return err;
}

void put_last_elements(Run& run, int file) {
  int variables = 0;
  ncmpi_inq_nvars(file, &variables);
  for (int v = 0; v < variables; ++v) {
    int dims = 0;
    std::array<int, 16> ids{};
    nc_type type = NC_NAT;
    ncmpi_inq_var(file, v, nullptr, &type, &dims, ids.data(), nullptr);
    std::vector<MPI_Offset> last(static_cast<std::size_t>(dims));
    bool none = false;
    for (std::size_t d = 0; d < last.size(); ++d) {
      ncmpi_inq_dimlen(file, ids[d], &last[d]);
      none = none || last[d]-- == 0;
    }
    const double one = 1;  // as eight bytes of whatever type: the same on all ranks
    if (!none) run.code("last element", ncmpi_put_var1_all(file, v, last.data(), &one, 1, MPI_DATATYPE_NULL));
  }
}

}  // namespace forebay::test
