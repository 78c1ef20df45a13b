// A list: there is something in it on a bad day only.
#include "unwritten.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace forebay::hdf5 {

bool Unwritten::keep(CoreFile& core, std::int64_t offset, const void* bytes, std::int64_t length) {
  if (length <= 0) return true;
  try {
    const auto size = static_cast<std::size_t>(length);
    const auto* from = static_cast<const std::byte*>(bytes);
    Piece piece{offset, {from, from + size}, std::vector<std::byte>(size)};
    if (!core.read_at(offset, piece.seen.data(), length).ok()) return false;
    forget(offset, length);
    pieces_.push_back(std::move(piece));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Status Unwritten::write(CoreFile& core) {
  Status status;
  std::vector<std::byte> now;
  const auto done = [&](const Piece& piece) {
    const auto length = static_cast<std::int64_t>(piece.bytes.size());
    now.resize(piece.bytes.size());
    Status mine = core.read_at(piece.offset, now.data(), length);
    if (mine.ok() && now != piece.seen) return true;
    if (mine.ok()) mine = core.write_at(piece.offset, piece.bytes.data(), length);
    status.update(mine);
    return mine.ok();
  };
  try {
    std::erase_if(pieces_, done);
  } catch (const std::bad_alloc&) {
    status.update({Code::no_memory, "no memory to write the metadata of " + core.path()});
  }
  return status;
}

void Unwritten::forget(std::int64_t offset, std::int64_t length) {
  const std::int64_t end = offset + length;
  std::vector<Piece> left;
  for (Piece& piece : pieces_) {
    if (piece.end() <= offset || piece.offset >= end) {
      left.push_back(std::move(piece));
      continue;
    }
    const auto part = [&](std::int64_t from, std::int64_t to) {
      if (from >= to) return;
      const auto cut = [&](const std::vector<std::byte>& all) {
        return std::vector<std::byte>(all.begin() + (from - piece.offset), all.begin() + (to - piece.offset));
      };
      left.push_back({from, cut(piece.bytes), cut(piece.seen)});
    };
    part(piece.offset, offset);
    part(end, piece.end());
  }
  pieces_ = std::move(left);
}

void Unwritten::lay_over(std::int64_t offset, void* bytes, std::int64_t length) const {
  for (const Piece& piece : pieces_) {
    const std::int64_t begin = std::max(piece.offset, offset), end = std::min(piece.end(), offset + length);
    if (begin >= end) continue;
    std::memcpy(static_cast<std::byte*>(bytes) + (begin - offset),
                piece.bytes.data() + (begin - piece.offset), static_cast<std::size_t>(end - begin));
  }
}

}  // namespace forebay::hdf5
