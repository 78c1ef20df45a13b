// Conversions against the rule written out element by element, and the sources that use them.
#include "convert/convert.hpp"

#include <cmath>
#include <cstring>

#include "../request/reference.hpp"
#include "convert/convert_source.hpp"
#include "convert_values.hpp"

namespace forebay::test {
namespace {

// One element by the rule of netCDF's documentation, in long double, which holds every value of every type
// exactly.
template <class To, class From>
To reference_convert(From value, To fill, bool& bad) {
  if constexpr (std::is_same_v<To, From>) return value;
  if (std::is_floating_point_v<From> && std::isnan(static_cast<long double>(value))) {
    if constexpr (std::is_floating_point_v<To>) return std::numeric_limits<To>::quiet_NaN();
    return sizeof(To) < 4 || std::is_same_v<To, std::uint32_t>
               ? 0
               : static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1));
  }
  const auto exact = static_cast<long double>(value);
  long double most = static_cast<long double>(std::numeric_limits<To>::max());
  long double least = static_cast<long double>(std::numeric_limits<To>::lowest());
  if (std::is_floating_point_v<From>) most = static_cast<double>(most), least = static_cast<double>(least);
  if (std::is_floating_point_v<To> && std::is_integral_v<From>) return static_cast<To>(value);
  if (exact > most || exact < least) {
    bad = true;
    return fill;
  }
  // The limit itself, rounded up: the machine's answer.
  if (exact > static_cast<long double>(std::numeric_limits<To>::max())) {
    return std::is_signed_v<To> ? std::numeric_limits<To>::min() : To{0};
  }
  return static_cast<To>(value);
}

template <class To>
void expect_same(To got, To want, const std::string& what) {
  if (std::memcmp(&got, &want, sizeof got) == 0) return;
  if constexpr (std::is_floating_point_v<To>) {
    if (std::isnan(got) && std::isnan(want)) return;
  }
  FAIL() << what << ": " << +got << ", not " << +want;
}

template <class Number>
Number big_endian(const std::byte* from) {
  std::byte turned[sizeof(Number)];
  std::reverse_copy(from, from + sizeof(Number), turned);
  Number value;
  std::memcpy(&value, turned, sizeof value);
  return value;
}

TEST(Convert, EveryPairOfTypesAtEveryBoundary) {
  for_each_number_type([&](auto to_tag, int external_number) {
    for_each_number_type([&](auto from_tag, int memory_number) {
      using To = typename decltype(to_tag)::type;
      using From = typename decltype(from_tag)::type;
      const auto external = static_cast<ExternalType>(external_number);
      const auto memory = static_cast<MemoryType>(memory_number);
      const std::vector<From> values = boundary_values<From>();
      const To fill = static_cast<To>(42);
      std::vector<std::byte> all(values.size() * sizeof(To));
      bool any = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string what = "external " + std::to_string(external_number) + " memory " +
                                 std::to_string(memory_number) + " value " + std::to_string(values[i]);
        bool bad = false;
        const To want = reference_convert<To, From>(values[i], fill, bad);
        any = any || bad;
        To native;
        ASSERT_EQ(convert(external, memory, &values[i], &native, 1, &fill, {.big_endian = false}), bad)
            << what;
        expect_same(native, want, what);
        std::byte big[sizeof(To)];
        ASSERT_EQ(convert(external, memory, &values[i], big, 1, &fill), bad) << what;
        expect_same(big_endian<To>(big), want, what);
        // Without a fill value the element is still reported; a value in range is the same.
        ASSERT_EQ(convert(external, memory, &values[i], &native, 1, nullptr, {.big_endian = false}), bad)
            << what;
        if (!bad) expect_same(native, want, what);
        if (std::is_integral_v<From> && std::is_integral_v<To>)
          expect_same(native, static_cast<To>(values[i]), what);
      }
      ASSERT_EQ(convert(external, memory, values.data(), all.data(), values.size(), &fill), any);
      for (std::size_t i = 0; i < values.size(); ++i) {
        bool bad = false;
        expect_same(big_endian<To>(&all[i * sizeof(To)]), reference_convert<To, From>(values[i], fill, bad),
                    "in a row");
      }
    });
  });
}

TEST(Convert, ClassicBytesAndText) {
  const unsigned char bytes[] = {0, 1, 127, 128, 200, 255};
  const signed char fill = -127;
  unsigned char out[6];
  EXPECT_TRUE(convert(ExternalType::i8, MemoryType::u8, bytes, out, 6, &fill));
  EXPECT_EQ(out[2], 127);
  EXPECT_EQ(out[3], 129);  // -127
  EXPECT_FALSE(convert(ExternalType::i8, MemoryType::u8, bytes, out, 6, &fill, {.classic_bytes = true}));
  EXPECT_EQ(std::memcmp(bytes, out, 6), 0);
  EXPECT_TRUE(convert(ExternalType::u8, MemoryType::i8, bytes, out, 6, &fill, {.classic_bytes = true}));
  EXPECT_FALSE(convert(ExternalType::text, MemoryType::text, bytes, out, 6, nullptr));
  EXPECT_EQ(std::memcmp(bytes, out, 6), 0);
  EXPECT_TRUE(convertible(ExternalType::text, MemoryType::text));
  EXPECT_FALSE(convertible(ExternalType::text, MemoryType::u8));
  EXPECT_FALSE(convertible(ExternalType::f32, MemoryType::text));
  EXPECT_TRUE(convertible(ExternalType::f32, MemoryType::u8));
}

// Runs of any kind against the whole stream, converted at once.
template <class MakeSource>
void check_runs(Random& random, const std::vector<std::byte>& stream, std::int64_t element, MakeSource make) {
  const auto size = static_cast<std::int64_t>(stream.size());
  auto source = make();
  for (int batch = 0; batch < 3; ++batch) {
    const std::int64_t origin = random.one_in(3) ? std::int64_t{7} << 40 : random(0, 100);
    std::vector<std::byte> got(static_cast<std::size_t>(size) + 300, std::byte{0xEE}), want = got;
    Runs runs;
    std::int64_t next = 0;
    for (std::int64_t i = random(0, 20); i > 0; --i) {
      std::int64_t at = random.one_in(2) ? next : random(0, size - 1);
      if (at >= size) at = 0;
      std::int64_t length = random(1, size - at);
      if (!random.one_in(3)) {
        at = at / element * element;
        length = random.one_in(2) ? element : std::max(element, length / element * element);
      }
      next = at + length;
      const std::int64_t file = origin + random(0, size + 300 - length);
      runs.push_back({file, at, length});
      std::copy_n(stream.begin() + at, length, want.begin() + (file - origin));
    }
    source.produce(runs, got.data(), origin);
    ASSERT_EQ(got, want);
  }
}

TEST(ConvertSource, RunsLikeTheWholeStream) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(1500) && !HasFatalFailure(); ++repeat) {
    for_each_number_type([&](auto to_tag, int external_number) {
      if (external_number != repeat % 11 + 1) return;
      for_each_number_type([&](auto from_tag, int memory_number) {
        if (memory_number != repeat / 11 % 11 + 1) return;
        using To = typename decltype(to_tag)::type;
        using From = typename decltype(from_tag)::type;
        const auto external = static_cast<ExternalType>(external_number);
        const auto memory = static_cast<MemoryType>(memory_number);
        const To fill = static_cast<To>(42);
        std::vector<From> values = boundary_values<From>();
        const bool tame = random.one_in(2);
        for (From& value : values) {
          if (tame) value = static_cast<From>(random(0, 100));
        }
        values.resize(static_cast<std::size_t>(random(1, static_cast<std::int64_t>(values.size()))));
        std::vector<std::byte> stream(values.size() * sizeof(To));
        const bool bad = convert(external, memory, values.data(), stream.data(), values.size(), &fill);
        ASSERT_FALSE(bad && tame);
        check_runs(random, stream, sizeof(To),
                   [&] { return ConvertSource(values.data(), external, memory, &fill); });
        ConvertSource source(values.data(), external, memory, &fill);
        EXPECT_FALSE(source.range_error());
        const forebay::Run all{0, 0, static_cast<std::int64_t>(stream.size())};
        std::vector<std::byte> out(stream.size());
        source.produce({&all, 1}, out.data(), 0);
        EXPECT_EQ(source.range_error(), bad);
        EXPECT_EQ(source.direct(), nullptr);
        source.produce({}, out.data(), 0);
        EXPECT_EQ(source.range_error(), bad);  // remembered
      });
    });
  }
}

TEST(GatherSource, LikeIndexArithmetic) {
  Random random(test_seed() + 1);
  for (int repeat = 0; repeat < cases(2000) && !HasFatalFailure(); ++repeat) {
    const auto ndims = static_cast<std::size_t>(random(0, 4));
    std::vector<std::int64_t> count(ndims), imap(ndims);
    for (std::int64_t& n : count) n = random(1, 5);
    // A permutation of the dimensions, sometimes padded: or any strides, which may even meet.
    std::vector<std::size_t> order(ndims);
    for (std::size_t d = 0; d < ndims; ++d) order[d] = d;
    if (!random.one_in(3)) {
      for (std::size_t d = ndims; d-- > 1;)
        std::swap(order[d], order[static_cast<std::size_t>(random(0, static_cast<std::int64_t>(d)))]);
    }
    std::int64_t pitch = random(1, 2);
    for (std::size_t d = ndims; d-- > 0;) {
      imap[order[d]] = random.one_in(10) ? random(0, 9) : pitch;
      pitch *= count[order[d]] + (random.one_in(4) ? 1 : 0);
    }
    std::int64_t elements = 1;
    std::int64_t extent = 1;
    for (std::size_t d = 0; d < ndims; ++d) {
      elements *= count[d];
      extent += (count[d] - 1) * imap[d];
    }
    std::vector<double> memory(static_cast<std::size_t>(extent));
    for (double& value : memory) value = static_cast<double>(random(-40000, 40000));
    std::vector<double> gathered;
    for (std::int64_t i = 0; i < elements; ++i) {
      std::int64_t rest = i, at = 0;
      for (std::size_t d = ndims; d-- > 0; rest /= count[d]) at += rest % count[d] * imap[d];
      gathered.push_back(memory[static_cast<std::size_t>(at)]);
    }
    const std::int16_t fill = 7;
    const ExternalType external = random.one_in(2) ? ExternalType::f64 : ExternalType::i16;
    std::vector<std::byte> stream(gathered.size() * static_cast<std::size_t>(element_size(external)));
    const bool bad = convert(external, MemoryType::f64, gathered.data(), stream.data(), gathered.size(),
                             external == ExternalType::f64 ? nullptr : &fill);
    const auto make = [&] {
      return GatherSource(memory.data(), count, imap, external, MemoryType::f64,
                          external == ExternalType::f64 ? nullptr : &fill);
    };
    check_runs(random, stream, element_size(external), make);
    GatherSource source = make();
    const forebay::Run all{0, 0, static_cast<std::int64_t>(stream.size())};
    std::vector<std::byte> out(stream.size());
    source.produce({&all, 1}, out.data(), 0);
    ASSERT_EQ(out, stream);
    EXPECT_EQ(source.range_error(), bad);
  }
}

TEST(Convert, DefaultFillValues) {
  const auto as = [](ExternalType type, auto value) {
    const std::array<std::byte, 8> fill = default_fill(type);
    std::memcpy(&value, fill.data(), sizeof value);
    return value;
  };
  EXPECT_EQ(as(ExternalType::i8, std::int8_t{}), -127);
  EXPECT_EQ(as(ExternalType::f32, float{}), 9.9692099683868690e+36f);
  EXPECT_EQ(as(ExternalType::u64, std::uint64_t{}), 18446744073709551614u);
}

}  // namespace
}  // namespace forebay::test
