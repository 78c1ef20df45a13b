#include "engine/stripe_writer.hpp"

#include <algorithm>
#include <cstring>

#include "engine/flush.hpp"
#include "exchange/dirty_map.hpp"

namespace forebay {
namespace {

// What a block with holes costs: a write a run, or a read and a write of the whole. Measured on tmpfs and
// ext4 with MPI-IO: 1.5 µs a small write, 2 GB/s read and write.
constexpr double kWriteCallSeconds = 1.5e-6;
constexpr double kSecondsPerByte = 0.5e-9;
constexpr std::int64_t kFillBytes = 1 << 20;  // holes are filled in parts of this size at most
constexpr std::int64_t kPartBits = 1 << 17;   // at most half as many runs: 1.5 MiB of list
constexpr std::size_t kMostPieces = 1 << 16;

}  // namespace

Status StripeWriter::write(std::span<const DomainPart> parts, const MarkedImage& image, std::int64_t& runs) {
  auto& pieces = f_.scratch.pieces;
  pieces.clear();
  const int shift = image.shift;
  for (const DomainPart& s : parts) {
    // In parts, so that the list stays short however many holes there are.
    const std::int64_t end = (s.end - image.base) >> shift;
    for (std::int64_t part = (s.begin - image.base) >> shift; part < end; part += kPartBits) {
      const std::size_t before = pieces.size();
      for_each_bit_run(image.marks, part, std::min(part + kPartBits, end),
                       [&](std::int64_t bit, std::int64_t bits) {
                         const std::int64_t at = bit << shift;
                         pieces.push_back({image.base + at, image.buffer + at, bits << shift});
                       });
      runs += static_cast<std::int64_t>(pieces.size() - before);
      if (Status status = fill_holes(image, before); !status.ok()) return status;
      if (before > 0 && before < pieces.size() &&
          pieces[before - 1].offset + pieces[before - 1].length == pieces[before].offset) {
        pieces[before - 1].length += pieces[before].length;
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(before));
        --runs;
      }
      if (pieces.size() > kMostPieces) {
        if (Status status = write_pieces(); !status.ok()) return status;
      }
    }
  }
  return write_pieces();
}

Status StripeWriter::write_pieces() {
  auto& pieces = f_.scratch.pieces;
  for (const Piece& piece : pieces) f_.counters.count_write(piece.offset, piece.length, unit_);
  Status status = f_.storage.write(pieces);
  pieces.clear();
  return status;
}

// Replaces the runs from `before` on, all of one part, by whole parts of it where reading the holes is
// cheaper than many writes. Only the owner does so, inside a flush that all ranks have entered, and never
// past the last byte put.
Status StripeWriter::fill_holes(const MarkedImage& image, std::size_t before) {
  auto& pieces = f_.scratch.pieces;
  const std::size_t count = pieces.size() - before;
  if (!f_.fill_holes || count < 3) return {};
  if (f_.mark != nullptr && !alone_) alone_.emplace(*f_.mark);
  if (alone_ && !alone_->certain()) return {};
  std::size_t out = before;
  for (std::size_t first = before; first < before + count;) {
    // A part: as many runs as lie within kFillBytes.
    std::size_t last = first;
    const std::int64_t begin = pieces[first].offset;
    while (last + 1 < before + count &&
           pieces[last + 1].offset + pieces[last + 1].length - begin <= kFillBytes)
      ++last;
    const std::int64_t span = pieces[last].offset + pieces[last].length - begin;
    const double separate = static_cast<double>(last - first) * kWriteCallSeconds;
    const double whole = kWriteCallSeconds + static_cast<double>(span) * 2 * kSecondsPerByte;
    if (separate <= whole) {
      for (std::size_t i = first; i <= last; ++i) pieces[out++] = pieces[i];
      first = last + 1;
      continue;
    }
    auto& block = f_.scratch.block;
    if (block.size() < static_cast<std::size_t>(span)) block.resize(static_cast<std::size_t>(span));
    f_.counters.count_read(span);
    ++f_.counters.rmw_blocks;
    if (Status status = f_.storage.read(begin, block.data(), span); !status.ok()) return status;
    std::byte* target = image.buffer + (begin - image.base);
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t hole = pieces[i].offset + pieces[i].length - begin;
      const std::int64_t hole_end = pieces[i + 1].offset - begin;
      std::memcpy(target + hole, block.data() + hole, static_cast<std::size_t>(hole_end - hole));
    }
    pieces[out++] = {begin, target, span};
    first = last + 1;
  }
  pieces.resize(out);
  return {};
}

}  // namespace forebay
