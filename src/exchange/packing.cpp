// Choosing the header, packing and unpacking.
#include "exchange/packing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exchange/dirty_map.hpp"

namespace forebay {
namespace {

struct Prefix {
  std::uint32_t header;
  std::uint32_t count;  // runs
  std::uint32_t bytes;  // of the header that follows
};

// A number in groups of 7 bits, the lowest first; the top bit of a byte says that more follow.
std::int64_t number_bytes(std::uint64_t value) {
  return std::max(1, (std::bit_width(value) + 6) / 7);
}

std::byte* put_number(std::uint64_t value, std::byte* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::byte>(value | 0x80);
  *out++ = static_cast<std::byte>(value);
  return out;
}

bool take_number(const std::byte*& at, const std::byte* end, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; at != end && shift < 63; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(*at++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// A run as a delta: 1 + the gap after the run before; where the length is not that run's, 0 and the length
/// come first. The first comes after a run that ended at 0 and had no length.
struct Delta {
  std::int64_t end = 0;
  std::int64_t length = 0;

  std::uint64_t gap(std::int64_t begin) const { return static_cast<std::uint64_t>(begin - end) + 1; }
  std::int64_t bytes(std::int64_t begin, std::int64_t count) const {
    return number_bytes(gap(begin)) +
           (count == length ? 0 : 1 + number_bytes(static_cast<std::uint64_t>(count)));
  }
  std::byte* put(std::int64_t begin, std::int64_t count, std::byte* out) const {
    if (count != length) out = put_number(static_cast<std::uint64_t>(count), put_number(0, out));
    return put_number(gap(begin), out);
  }
  void pass(std::int64_t begin, std::int64_t count) { *this = {begin + count, count}; }
};

struct Stride {
  std::uint32_t begin;
  std::uint32_t step;
  std::uint32_t count;  // granules a run
  std::uint32_t unused;
};

template <class F>
void for_each_run(std::span<const DomainPart> parts, std::int64_t base, int shift,
                  const std::uint64_t* merged, F&& f) {
  for (const DomainPart& part : parts) {
    for_each_bit_run(merged, (part.begin - base) >> shift, (part.end - base) >> shift, f);
  }
}

std::int64_t bits_of(const DomainPart& part, int shift) {
  return (part.end - part.begin) >> shift;
}

// A part's bits, moved to begin at bit 0 of whole words.
std::int64_t bitmap_words(const DomainPart& part, int shift) {
  return (bits_of(part, shift) + 63) / 64;
}

std::uint64_t word_at(const std::uint64_t* words, std::int64_t bit, std::int64_t end) {
  const std::int64_t index = bit >> 6;
  const int offset = static_cast<int>(bit & 63);
  std::uint64_t value = words[index] >> offset;
  if (offset != 0 && ((index + 1) << 6) < end) value |= words[index + 1] << (64 - offset);
  const std::int64_t left = end - bit;
  return left >= 64 ? value : value & ((std::uint64_t{1} << left) - 1);
}

}  // namespace

PackPlan plan_message(std::span<const DomainPart> parts, std::int64_t base, int shift,
                      const std::uint64_t* merged) {
  PackPlan plan;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t length = 0;
  std::int64_t step = 0;
  std::int64_t bits = 0;
  std::int64_t deltas = 0;
  Delta delta;
  bool regular = true;
  for_each_run(parts, base, shift, merged, [&](std::int64_t begin, std::int64_t count) {
    if (plan.runs == 0) {
      first = begin;
      length = count;
    } else {
      if (plan.runs == 1) step = begin - first;
      regular = regular && begin - last == step && count == length;
    }
    last = begin;
    ++plan.runs;
    bits += count;
    deltas += delta.bytes(begin, count);
    delta.pass(begin, count);
  });
  if (plan.runs == 0) return plan;
  regular = regular && first >= 0;
  plan.data_bytes = bits << shift;
  std::int64_t bitmap = 0;
  for (const DomainPart& part : parts) bitmap += bitmap_words(part, shift) * 8;
  std::int64_t smallest = deltas;
  plan.header = Header::deltas;
  if (bitmap < smallest) {
    smallest = bitmap;
    plan.header = Header::bitmap;
  }
  if (regular && static_cast<std::int64_t>(sizeof(Stride)) < smallest) {
    smallest = sizeof(Stride);
    plan.header = Header::strided;
  }
  plan.header_bytes = static_cast<std::int64_t>(sizeof(Prefix)) + smallest;
  return plan;
}

// A number v takes at most 1 + log2(v) / 7 bytes, which is concave: gaps that are all alike take the most.
std::int64_t most_header_bytes(std::int64_t runs, std::int64_t length, std::int64_t span,
                               std::int64_t marks) {
  if (runs == 0) return 0;
  const std::int64_t data = std::max(runs, (runs - 2) * length + 2);
  const double gap =
      1 + static_cast<double>(std::max<std::int64_t>(0, span - data)) / static_cast<double>(runs);
  const double gaps = static_cast<double>(runs) * (1 + std::log2(gap) / 7);
  // The first run's length is told, the one after it may be another, and so may the last.
  const std::int64_t lengths =
      std::min<std::int64_t>(runs, 3) * (1 + number_bytes(static_cast<std::uint64_t>(length)));
  const std::int64_t bitmap = (marks + 63) / 64 * 8;
  return static_cast<std::int64_t>(sizeof(Prefix)) +
         std::min(static_cast<std::int64_t>(std::ceil(gaps)) + lengths, bitmap);
}

std::int64_t header_bytes(std::span<const std::byte> message) {
  Prefix prefix{};
  std::memcpy(&prefix, message.data(), sizeof prefix);
  return std::int64_t{sizeof prefix} + prefix.bytes;
}

void pack_request(const PackPlan& plan, std::span<const DomainPart> parts, std::int64_t base, int shift,
                  const std::uint64_t* merged, std::byte* out) {
  const Prefix prefix{static_cast<std::uint32_t>(plan.header), static_cast<std::uint32_t>(plan.runs),
                      static_cast<std::uint32_t>(plan.header_bytes - std::int64_t{sizeof(Prefix)})};
  std::memcpy(out, &prefix, sizeof prefix);
  std::byte* header = out + sizeof prefix;
  if (plan.header == Header::bitmap) {
    for (const DomainPart& part : parts) {
      const std::int64_t begin = (part.begin - base) >> shift;
      const std::int64_t end = (part.end - base) >> shift;
      for (std::int64_t bit = begin; bit < end; bit += 64) {
        const std::uint64_t word = word_at(merged, bit, end);
        std::memcpy(header, &word, sizeof word);
        header += sizeof word;
      }
    }
    return;
  }
  std::int64_t index = 0;
  Stride stride{};
  Delta delta;
  for_each_run(parts, base, shift, merged, [&](std::int64_t begin, std::int64_t count) {
    if (plan.header == Header::deltas) {
      header = delta.put(begin, count, header);
      delta.pass(begin, count);
    } else if (index == 0) {
      stride.begin = static_cast<std::uint32_t>(begin);
      stride.count = static_cast<std::uint32_t>(count);
    } else if (index == 1) {
      stride.step = static_cast<std::uint32_t>(begin) - stride.begin;
    }
    ++index;
  });
  if (plan.header == Header::strided) std::memcpy(header, &stride, sizeof stride);
}

void pack_message(const PackPlan& plan, std::span<const DomainPart> parts, std::int64_t base, int shift,
                  const std::uint64_t* merged, const std::byte* window, std::byte* out) {
  pack_request(plan, parts, base, shift, merged, out);
  std::byte* data = out + plan.header_bytes;
  for_each_run(parts, base, shift, merged, [&](std::int64_t begin, std::int64_t count) {
    std::memcpy(data, window + (begin << shift), static_cast<std::size_t>(count << shift));
    data += count << shift;
  });
}

namespace {

/// Calls take(begin, count) for the runs of a header in the order of the data, as long as it returns true;
/// `data` becomes what follows the header. False when the header is not well-formed, or take said so.
template <class Take>
bool parse_header(std::span<const std::byte> message, std::span<const DomainPart> parts, std::int64_t base,
                  int shift, const std::byte*& data, Take&& take) {
  Prefix prefix{};
  if (message.size() < sizeof prefix) return false;
  std::memcpy(&prefix, message.data(), sizeof prefix);
  const std::byte* header = message.data() + sizeof prefix;
  if (message.size() - sizeof prefix < prefix.bytes) return false;
  const std::size_t left = prefix.bytes;
  const std::byte* const data_begin = header + left;
  data = data_begin;
  constexpr std::uint64_t kMost = 0xffffffff;
  std::int64_t window_end = 0;
  for (const DomainPart& part : parts) window_end = std::max(window_end, part.end - base);
  const auto take_checked = [&](std::int64_t begin, std::int64_t count) {
    return ((begin + count) << shift) <= window_end && take(begin, count);
  };

  switch (static_cast<Header>(prefix.header)) {
    case Header::deltas: {
      Delta delta;
      for (std::uint32_t i = 0; i < prefix.count; ++i) {
        std::uint64_t gap = 0, length = static_cast<std::uint64_t>(delta.length);
        if (!take_number(header, data_begin, gap)) return false;
        if (gap == 0 &&
            !(take_number(header, data_begin, length) && take_number(header, data_begin, gap) && gap > 0))
          return false;
        if (gap > kMost || length > kMost) return false;
        const std::int64_t begin = delta.end + static_cast<std::int64_t>(gap) - 1;
        const auto count = static_cast<std::int64_t>(length);
        if (!take_checked(begin, count)) return false;
        delta.pass(begin, count);
      }
      return true;
    }
    case Header::strided: {
      Stride stride{};
      if (left < sizeof stride) return false;
      std::memcpy(&stride, header, sizeof stride);
      for (std::uint32_t i = 0; i < prefix.count; ++i) {
        if (!take_checked(stride.begin + std::int64_t{i} * stride.step, stride.count)) return false;
      }
      return true;
    }
    case Header::bitmap: {
      std::size_t bytes = 0;
      for (const DomainPart& part : parts) bytes += static_cast<std::size_t>(bitmap_words(part, shift)) * 8;
      if (left < bytes) return false;
      bool good = true;
      std::vector<std::uint64_t> bits;
      for (const DomainPart& part : parts) {
        const auto count = static_cast<std::size_t>(bitmap_words(part, shift));
        bits.resize(count);
        std::memcpy(bits.data(), header, count * 8);
        header += count * 8;
        const std::int64_t begin = (part.begin - base) >> shift;
        for_each_bit_run(bits.data(), 0, bits_of(part, shift), [&](std::int64_t bit, std::int64_t length) {
          good = good && take_checked(begin + bit, length);
        });
      }
      return good;
    }
  }
  return false;
}

void set_bits(std::uint64_t* words, std::int64_t begin, std::int64_t count) {
  for_each_word(begin, begin + count, [&](std::int64_t word, std::uint64_t bits) { words[word] |= bits; });
}

}  // namespace

bool unpack_message(std::span<const std::byte> message, std::span<const DomainPart> parts, std::int64_t base,
                    int shift, std::byte* window, std::uint64_t* merged) {
  const std::byte* const end = message.data() + message.size();
  const std::byte* data = nullptr;
  return parse_header(message, parts, base, shift, data, [&](std::int64_t begin, std::int64_t count) {
    const std::int64_t bytes = count << shift;
    if (end - data < bytes) return false;
    std::memcpy(window + (begin << shift), data, static_cast<std::size_t>(bytes));
    data += bytes;
    set_bits(merged, begin, count);
    return true;
  });
}

bool unpack_request(std::span<const std::byte> message, std::span<const DomainPart> parts, std::int64_t base,
                    int shift, std::uint64_t* merged, std::int64_t& bytes) {
  bytes = 0;
  const std::byte* data = nullptr;
  return parse_header(message, parts, base, shift, data, [&](std::int64_t begin, std::int64_t count) {
    set_bits(merged, begin, count);
    bytes += count << shift;
    return true;
  });
}

void pack_answer(std::span<const std::byte> request, std::span<const DomainPart> parts, std::int64_t base,
                 int shift, const std::byte* window, std::byte* out) {
  const std::byte* data = nullptr;
  parse_header(request, parts, base, shift, data, [&](std::int64_t begin, std::int64_t count) {
    std::memcpy(out, window + (begin << shift), static_cast<std::size_t>(count << shift));
    out += count << shift;
    return true;
  });
}

bool unpack_answer(std::span<const std::byte> answer, std::span<const DomainPart> parts, std::int64_t base,
                   int shift, const std::uint64_t* merged, std::byte* window) {
  const std::byte* data = answer.data();
  const std::byte* const end = data + answer.size();
  bool good = true;
  for_each_run(parts, base, shift, merged, [&](std::int64_t begin, std::int64_t count) {
    const std::int64_t bytes = count << shift;
    good = good && end - data >= bytes;
    if (!good) return;
    std::memcpy(window + (begin << shift), data, static_cast<std::size_t>(bytes));
    data += bytes;
  });
  return good && data == end;
}

}  // namespace forebay
