// How an owner writes what has come together in memory: the bytes that were put, and where it is cheaper and
// safe whole blocks with what lay between them. Knows no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/status.hpp"
#include "layout/file_domains.hpp"
#include "storage/open_mark.hpp"

namespace forebay {

struct Flush;

/// Bytes of the file from offset `base` on, in memory: bit i of `marks` says that bytes [i << shift,
/// (i + 1) << shift) of `buffer` were put.
struct MarkedImage {
  std::int64_t base;
  std::byte* buffer;
  const std::uint64_t* marks;
  int shift;
};

/// An aggregator's, for one flush.
class StripeWriter {
 public:
  /// `unit`: writes that begin and end on its multiples are counted as aligned.
  StripeWriter(const Flush& flush, std::int64_t unit) : f_(flush), unit_(unit) {}

  /// Writes what is marked in these parts of the file, which lie in the image. `runs`: how many there were.
  Status write(std::span<const DomainPart> parts, const MarkedImage& image, std::int64_t& runs);
  /// All is written, for now.
  void done() { alone_.reset(); }

 private:
  Status write_pieces();
  Status fill_holes(const MarkedImage& image, std::size_t before);

  const Flush& f_;
  std::int64_t unit_;
  std::optional<OpenMark::Alone> alone_;  // from the first hole that is read until all is written
};

}  // namespace forebay
