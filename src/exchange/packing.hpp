// Messages between nodes: the marked bytes of a window's parts, packed behind the smallest of three
// headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout/file_domains.hpp"

namespace forebay {

/// The forms a header takes. Scattered floats are cheapest as a bitmap where a node has many of them, and as
/// deltas (the gaps between runs, and lengths where they change) where it has few; interleaved arrays as a
/// stride.
enum class Header : std::uint32_t { deltas = 1, strided = 2, bitmap = 3 };

/// What a packed message needs: bytes of header and data. `parts` are file ranges of one round, `merged`
/// their marks (bit i for window bytes [i << shift, …) after `base`).
struct PackPlan {
  Header header = Header::deltas;
  std::int64_t runs = 0;
  std::int64_t data_bytes = 0;
  std::int64_t header_bytes = 0;
  std::int64_t total() const { return runs == 0 ? 0 : header_bytes + data_bytes; }
};

PackPlan plan_message(std::span<const DomainPart> parts, std::int64_t base, int shift,
                      const std::uint64_t* merged);

/// Of a message of `runs` runs, which do not touch and of which all but the first and the last, that the
/// message may cut, have `length` granules: the most that its header takes. `span`: granules from the
/// window's begin to the message's last; `marks`: granules of its parts, each rounded up to 64.
std::int64_t most_header_bytes(std::int64_t runs, std::int64_t length, std::int64_t span, std::int64_t marks);

/// Of a message: its bytes that are not data.
std::int64_t header_bytes(std::span<const std::byte> message);

/// Writes the message of that plan to `out` (plan.total() bytes).
void pack_message(const PackPlan& plan, std::span<const DomainPart> parts, std::int64_t base, int shift,
                  const std::uint64_t* merged, const std::byte* window, std::byte* out);

/// Puts a message's bytes into `window` and its marks into `merged`; `parts` are the receiver's, the same
/// as the sender's. False when the message is not well-formed.
bool unpack_message(std::span<const std::byte> message, std::span<const DomainPart> parts, std::int64_t base,
                    int shift, std::byte* window, std::uint64_t* merged);

// The same for reading: a request is a message without data, and the answer is the data alone, in the
// request's order.

/// Bytes of the request of that plan.
inline std::int64_t request_bytes(const PackPlan& plan) {
  return plan.runs == 0 ? 0 : plan.header_bytes;
}
void pack_request(const PackPlan& plan, std::span<const DomainPart> parts, std::int64_t base, int shift,
                  const std::uint64_t* merged, std::byte* out);

/// Sets the request's bits in `merged`, and counts the bytes that it asks for. False when it is not
/// well-formed.
bool unpack_request(std::span<const std::byte> message, std::span<const DomainPart> parts, std::int64_t base,
                    int shift, std::uint64_t* merged, std::int64_t& bytes);

/// Writes what a request (not malformed) asks for.
void pack_answer(std::span<const std::byte> request, std::span<const DomainPart> parts, std::int64_t base,
                 int shift, const std::byte* window, std::byte* out);

/// Puts the answer to the request that `merged` stands for into the window. False when its length is wrong.
bool unpack_answer(std::span<const std::byte> answer, std::span<const DomainPart> parts, std::int64_t base,
                   int shift, const std::uint64_t* merged, std::byte* window);

}  // namespace forebay
