// Conversions of gets against the rule written out element by element, and the sinks that use them.
#include "convert/get_converter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "../request/reference.hpp"
#include "convert/convert_sink.hpp"
#include "convert_values.hpp"

namespace forebay::test {
namespace {

// One element by PnetCDF's rule, in long double, which holds every value of every type exactly.
template <class To, class From>
To reference_get(From value, To fill, bool& bad) {
  if constexpr (std::is_same_v<To, From> || std::is_floating_point_v<To>) {
    if (sizeof(To) < sizeof(From) && std::is_floating_point_v<From> &&
        std::abs(static_cast<long double>(value)) > std::numeric_limits<float>::max()) {
      bad = true;
      return fill;
    }
    return static_cast<To>(value);
  } else {
    if (std::is_floating_point_v<From> && std::isnan(static_cast<long double>(value))) {
      return sizeof(To) < 4 || std::is_same_v<To, std::uint32_t>
                 ? 0
                 : static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1));
    }
    const auto exact = static_cast<long double>(value);
    auto most = static_cast<long double>(std::numeric_limits<To>::max());
    auto least = static_cast<long double>(std::numeric_limits<To>::lowest());
    if (std::is_floating_point_v<From>) most = static_cast<double>(most), least = static_cast<double>(least);
    if (exact > most || exact < least) {
      bad = true;
      return fill;
    }
    // The greatest value, rounded up.
    if (exact > static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  }
}

template <class Number>
void append_big(std::vector<std::byte>& stream, Number value) {
  std::byte bytes[sizeof(Number)];
  std::memcpy(bytes, &value, sizeof value);
  std::reverse(bytes, bytes + sizeof(Number));
  stream.insert(stream.end(), bytes, bytes + sizeof(Number));
}

template <class To>
void expect_same(To got, To want, const std::string& what) {
  if (std::memcmp(&got, &want, sizeof got) == 0) return;
  if constexpr (std::is_floating_point_v<To>) {
    if (std::isnan(got) && std::isnan(want)) return;
  }
  FAIL() << what << ": " << +got << ", not " << +want;
}

TEST(GetConverter, EveryPairOfTypesAtEveryBoundary) {
  for_each_number_type([&](auto from_tag, int external_number) {
    for_each_number_type([&](auto to_tag, int memory_number) {
      using To = typename decltype(to_tag)::type;
      using From = typename decltype(from_tag)::type;
      const To fill = static_cast<To>(42);
      const GetConverter converter(static_cast<ExternalType>(external_number),
                                   static_cast<MemoryType>(memory_number), &fill);
      const std::vector<From> values = boundary_values<From>();
      std::vector<std::byte> stream;
      for (const From value : values) append_big(stream, value);
      bool any = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string what = "external " + std::to_string(external_number) + " memory " +
                                 std::to_string(memory_number) + " value " + std::to_string(values[i]);
        bool bad = false;
        const To want = reference_get<To, From>(values[i], fill, bad);
        any = any || bad;
        To got{};
        ASSERT_EQ(converter.convert(&stream[i * sizeof(From)], reinterpret_cast<std::byte*>(&got), 1), bad)
            << what;
        expect_same(got, want, what);
      }
      std::vector<To> all(values.size());
      ASSERT_EQ(converter.convert(stream.data(), reinterpret_cast<std::byte*>(all.data()), all.size()), any);
      for (std::size_t i = 0; i < values.size(); ++i) {
        bool bad = false;
        expect_same(all[i], reference_get<To, From>(values[i], fill, bad), "in a row");
      }
    });
  });
}

TEST(GetConverter, ClassicBytesTextAndFillValues) {
  const std::byte bytes[] = {std::byte{0}, std::byte{127}, std::byte{128}, std::byte{255}};
  unsigned char out[4];
  const auto fill = default_fill(MemoryType::u8);
  const GetConverter strict(ExternalType::i8, MemoryType::u8, fill.data());
  EXPECT_TRUE(strict.convert(bytes, reinterpret_cast<std::byte*>(out), 4));
  EXPECT_EQ(out[1], 127);
  EXPECT_EQ(out[2], 255);
  const GetConverter classic(ExternalType::i8, MemoryType::u8, fill.data(), {.classic_bytes = true});
  EXPECT_FALSE(classic.convert(bytes, reinterpret_cast<std::byte*>(out), 4));
  EXPECT_EQ(std::memcmp(bytes, out, 4), 0);
  const GetConverter text(ExternalType::text, MemoryType::text, fill.data());
  EXPECT_FALSE(text.convert(bytes, reinterpret_cast<std::byte*>(out), 4));
  EXPECT_EQ(std::memcmp(bytes, out, 4), 0);

  std::int64_t value = 0;
  std::memcpy(&value, default_fill(MemoryType::i64).data(), 8);
  EXPECT_EQ(value, -9223372036854775806);
  std::memcpy(&value, default_fill(MemoryType::i64, true).data(), 8);
  EXPECT_EQ(value, -2147483647);  // PnetCDF's for C's long
}

// The stream cut anywhere, whole elements more often than not, in any order, in several calls: what one round
// after the other hands out.
std::vector<Runs> cut_up(Random& random, std::int64_t bytes, std::int64_t element) {
  Runs runs;
  for (std::int64_t at = 0; at < bytes;) {
    std::int64_t length = random.one_in(2) ? element * random(1, 5) : random(1, 30);
    if (at % element != 0 && random.one_in(2)) length = element - at % element;
    length = std::min(length, bytes - at);
    runs.push_back({0, at, length});
    at += length;
  }
  for (std::size_t i = runs.size(); i > 1 && !random.one_in(4); --i)
    std::swap(runs[i - 1], runs[static_cast<std::size_t>(random(0, static_cast<std::int64_t>(i) - 1))]);
  std::vector<Runs> batches(1);
  std::int64_t file = 0;
  for (forebay::Run run : runs) {
    if (random.one_in(6)) batches.emplace_back();
    run.file = file += random(0, 3);
    file += run.length;
    batches.back().push_back(run);
  }
  return batches;
}

void feed(Random& random, Sink& sink, const std::vector<std::byte>& stream, std::int64_t element) {
  for (const Runs& runs : cut_up(random, static_cast<std::int64_t>(stream.size()), element)) {
    if (runs.empty()) continue;
    const std::int64_t origin = runs.front().file - random(0, 9);
    std::vector<std::byte> window(static_cast<std::size_t>(runs.back().file + runs.back().length - origin),
                                  std::byte{0xEE});
    for (const forebay::Run& run : runs)
      std::copy_n(stream.begin() + run.stream, run.length, window.begin() + (run.file - origin));
    sink.consume(runs, window.data(), origin);
  }
}

TEST(ConvertSink, AnyRunsLikeTheWholeStream) {
  Random random(test_seed());
  for (int repeat = 0; repeat < cases(3000) && !HasFatalFailure(); ++repeat) {
    const int chosen_external = repeat % 11 + 1, chosen_memory = repeat / 11 % 11 + 1;
    for_each_number_type([&](auto from_tag, int external_number) {
      if (external_number != chosen_external) return;
      for_each_number_type([&](auto to_tag, int memory_number) {
        if (memory_number != chosen_memory) return;
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
        std::vector<std::byte> stream;
        for (const From value : values) append_big(stream, value);
        std::vector<To> want(values.size()), got(values.size());
        const bool bad = GetConverter(external, memory, &fill)
                             .convert(stream.data(), reinterpret_cast<std::byte*>(want.data()), want.size());
        ASSERT_FALSE(bad && tame);
        ConvertSink sink(got.data(), external, memory, &fill);
        EXPECT_FALSE(sink.range_error());
        feed(random, sink, stream, sizeof(From));
        ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(To)), 0);
        EXPECT_EQ(sink.range_error(), bad);
        EXPECT_EQ(sink.direct(), nullptr);
        // Once more: a round that is begun again.
        std::fill(got.begin(), got.end(), To{});
        feed(random, sink, stream, sizeof(From));
        ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(To)), 0);
      });
    });
  }
}

TEST(ScatterSink, LikeIndexArithmetic) {
  Random random(test_seed() + 1);
  for (int repeat = 0; repeat < cases(2000) && !HasFatalFailure(); ++repeat) {
    const auto ndims = static_cast<std::size_t>(random(0, 4));
    std::vector<std::int64_t> count(ndims), imap(ndims);
    for (std::int64_t& n : count) n = random(1, 5);
    // A permutation of the dimensions, sometimes padded.
    std::vector<std::size_t> order(ndims);
    for (std::size_t d = 0; d < ndims; ++d) order[d] = d;
    if (!random.one_in(3)) {
      for (std::size_t d = ndims; d-- > 1;)
        std::swap(order[d], order[static_cast<std::size_t>(random(0, static_cast<std::int64_t>(d)))]);
    }
    std::int64_t pitch = random(1, 2), elements = 1, extent = 1;
    for (std::size_t d = ndims; d-- > 0;) {
      imap[order[d]] = pitch;
      pitch *= count[order[d]] + (random.one_in(4) ? 1 : 0);
    }
    for (std::size_t d = 0; d < ndims; ++d) {
      elements *= count[d];
      extent += (count[d] - 1) * imap[d];
    }
    std::vector<double> values(static_cast<std::size_t>(elements));
    for (double& value : values) value = static_cast<double>(random(-40000, 40000));
    std::vector<std::byte> stream;
    for (const double value : values) append_big(stream, value);
    const std::int16_t fill = 7;
    std::vector<std::int16_t> want(static_cast<std::size_t>(extent), -1), got = want;
    bool bad = false;
    for (std::int64_t i = 0; i < elements; ++i) {
      std::int64_t rest = i, at = 0;
      for (std::size_t d = ndims; d-- > 0; rest /= count[d]) at += rest % count[d] * imap[d];
      want[static_cast<std::size_t>(at)] =
          reference_get<std::int16_t, double>(values[static_cast<std::size_t>(i)], fill, bad);
    }
    ScatterSink sink(got.data(), count, imap, ExternalType::f64, MemoryType::i16, &fill);
    feed(random, sink, stream, 8);
    ASSERT_EQ(got, want);
    EXPECT_EQ(sink.range_error(), bad);
  }
}

}  // namespace
}  // namespace forebay::test
