// Where bytes belong: which aggregator of which node owns an offset, and the rounds in which a flush passes
// over the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "layout/extent.hpp"

namespace forebay {

/// Where nothing says another one.
inline constexpr std::int64_t kDefaultStripe = 512 << 10;

/// How the file is cut, by its file system or by hints.
struct Striping {
  std::int64_t unit = 1;    ///< bytes of a stripe
  std::int64_t factor = 0;  ///< storage targets, which have the stripes by turns; 0: not known
};

/// The aggregators that may own bytes. A node is whatever shares a window: ranks of one machine, or a group
/// of them; where several nodes make a group, one of them owns for it.
struct OwnerSet {
  int nodes = 1;
  int rails = 1;              ///< aggregators of each node: one of every node sits on a rail
  std::vector<int> owning{};  ///< the nodes that may own, each once; empty: all

  /// How many own, where stripes lie on `factor` storage targets (0: not known).
  int count(std::int64_t factor) const;
};

/// An owner's place.
struct Owner {
  int node;
  int rail;
  bool operator==(const Owner&) const = default;
};

/// A part of one round that one owner writes: bytes [begin, end) of the file.
struct DomainPart {
  std::int64_t begin;
  std::int64_t end;
  Owner owner;
};

/// File domains: blocks of the file, owned by turns and found by division and remainder. A block is a stripe
/// or as many of them as `block_bytes` says; neighbouring blocks go to different nodes. A round is a window
/// of consecutive file bytes that begins at a multiple of round_bytes; it holds whole stripes, or a stripe
/// takes several rounds with the same owner.
class FileDomains {
 public:
  FileDomains(const Striping& striping, std::int64_t round_bytes, OwnerSet set, std::int64_t block_bytes = 0)
      : striping_(striping),
        round_(round_bytes),
        block_(std::max(block_bytes, striping.unit)),
        owners_(set.count(striping.factor)),
        set_(std::move(set)) {}

  /// The same domains, in rounds of another size.
  FileDomains in_rounds_of(std::int64_t bytes) const {
    FileDomains other = *this;
    other.round_ = bytes;
    return other;
  }

  const Striping& striping() const { return striping_; }
  std::int64_t stripe_bytes() const { return striping_.unit; }
  std::int64_t block_bytes() const { return block_; }
  std::int64_t round_bytes() const { return round_; }
  int owners() const { return owners_; }
  /// Whether any byte of any file can be this one's.
  bool owns(const Owner& one) const;

  Owner owner(std::int64_t offset) const {
    const auto turn = static_cast<int>(offset / block_ % owners_);
    if (set_.owning.empty()) return {turn % set_.nodes, turn / set_.nodes};
    const auto nodes = static_cast<int>(set_.owning.size());
    return {set_.owning[static_cast<std::size_t>(turn % nodes)], turn / nodes};
  }

  /// First offset of the round that holds `offset`.
  std::int64_t round_begin(std::int64_t offset) const { return offset / round_ * round_; }

  /// Calls f(DomainPart) for the parts of the round at `base` that lie in `hull`, in ascending order.
  template <class F>
  void for_each_part(std::int64_t base, Extent hull, F&& f) const {
    const std::int64_t end = std::min(base + round_, hull.end);
    for (std::int64_t at = std::max(base, hull.begin); at < end;) {
      const std::int64_t next = std::min(end, (at / block_ + 1) * block_);
      f(DomainPart{at, next, owner(at)});
      at = next;
    }
  }

 private:
  Striping striping_;
  std::int64_t round_;
  std::int64_t block_;
  int owners_;
  OwnerSet set_;
};

/// The round size for a flush. `wanted`: the hint, or 0. The result is a multiple of 4096, a whole number of
/// stripes or, where a stripe does not fit `wanted` or `most` (the bound that memory sets), a divisor of one.
/// Stripes of a size that only hints have, which share no such number with pages, are cut as it comes.
std::int64_t choose_round_bytes(std::int64_t stripe, int owners, std::int64_t wanted, std::int64_t most);

}  // namespace forebay
