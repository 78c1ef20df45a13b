// Choosing the header, packing and unpacking.
#include "exchange/packing.hpp"

#include <algorithm>
#include <cstring>

#include "exchange/dirty_map.hpp"

namespace forebay {
namespace {

struct Prefix {
  std::uint32_t header;
  std::uint32_t count;  // runs
};

struct PackedRun {
  std::uint32_t begin;  // granules after the round's base
  std::uint32_t count;  // granules
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
  });
  if (plan.runs == 0) return plan;
  regular = regular && first >= 0;
  plan.data_bytes = bits << shift;
  std::int64_t bitmap = 0;
  for (const DomainPart& part : parts) bitmap += bitmap_words(part, shift) * 8;
  const auto list = static_cast<std::int64_t>(sizeof(PackedRun)) * plan.runs;
  std::int64_t smallest = list;
  plan.header = Header::runs;
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

void pack_request(const PackPlan& plan, std::span<const DomainPart> parts, std::int64_t base, int shift,
                  const std::uint64_t* merged, std::byte* out) {
  const Prefix prefix{static_cast<std::uint32_t>(plan.header), static_cast<std::uint32_t>(plan.runs)};
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
  for_each_run(parts, base, shift, merged, [&](std::int64_t begin, std::int64_t count) {
    if (plan.header == Header::runs) {
      const PackedRun run{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(count)};
      std::memcpy(header, &run, sizeof run);
      header += sizeof run;
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
  const std::size_t left = message.size() - sizeof prefix;
  std::int64_t window_end = 0;
  for (const DomainPart& part : parts) window_end = std::max(window_end, part.end - base);
  const auto take_checked = [&](std::int64_t begin, std::int64_t count) {
    return ((begin + count) << shift) <= window_end && take(begin, count);
  };

  switch (static_cast<Header>(prefix.header)) {
    case Header::runs: {
      const std::size_t bytes = sizeof(PackedRun) * prefix.count;
      if (left < bytes) return false;
      data = header + bytes;
      for (std::uint32_t i = 0; i < prefix.count; ++i) {
        PackedRun run{};
        std::memcpy(&run, header + i * sizeof run, sizeof run);
        if (!take_checked(run.begin, run.count)) return false;
      }
      return true;
    }
    case Header::strided: {
      Stride stride{};
      if (left < sizeof stride) return false;
      std::memcpy(&stride, header, sizeof stride);
      data = header + sizeof stride;
      for (std::uint32_t i = 0; i < prefix.count; ++i) {
        if (!take_checked(stride.begin + std::int64_t{i} * stride.step, stride.count)) return false;
      }
      return true;
    }
    case Header::bitmap: {
      std::size_t bytes = 0;
      for (const DomainPart& part : parts) bytes += static_cast<std::size_t>(bitmap_words(part, shift)) * 8;
      if (left < bytes) return false;
      data = header + bytes;
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
