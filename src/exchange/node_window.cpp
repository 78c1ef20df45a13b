// The window's memory layout, its barrier, and the merging of marks.
#include "exchange/node_window.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exchange/dirty_map.hpp"
#include "exchange/memory_part.hpp"
#include "request/work.hpp"

namespace forebay {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

std::size_t NodeWindow::bytes_needed(int ranks, std::int64_t round_bytes) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto round = static_cast<std::size_t>(round_bytes);
  if (round == 0) return round_up(sizeof(Control) + count * sizeof(Slot), alignof(Control));
  const std::size_t map = round_up(round / 8 + round / 64 / kSummaryWords + 1, kPage);
  return round_up(sizeof(Control) + count * sizeof(Slot), kPage) + 2 * round + maps(ranks) * map;
}

std::vector<Extent> NodeWindow::share_of(int rank, int ranks, std::int64_t round_bytes) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto round = static_cast<std::size_t>(round_bytes);
  const std::size_t head = round_up(sizeof(Control) + count * sizeof(Slot), kPage);
  const std::size_t map = round_up(round / 8 + round / 64 / kSummaryWords + 1, kPage);
  const std::size_t marks = head + 2 * round;
  const std::size_t mine = marks + 2 * static_cast<std::size_t>(rank) * map;
  const auto extent = [](std::size_t begin, std::size_t end) {
    return Extent{static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
  };
  std::vector<Extent> share;
  if (rank == 0) share.push_back(extent(0, head));
  share.push_back(memory_part(head, head + round, ranks, rank));
  share.push_back(memory_part(head + round, marks, ranks, rank));
  share.push_back(extent(mine, mine + 2 * map));
  if (ranks >= kMergeTogether)
    share.push_back(memory_part(marks + 2 * count * map, marks + maps(ranks) * map, ranks, rank));
  return share;
}

NodeWindow::NodeWindow(void* memory, int ranks, int rank, std::int64_t round_bytes)
    : ranks_(ranks), rank_(rank), round_bytes_(round_bytes) {
  // Zeroed memory is a valid initial state of every atomic in it.
  auto* at = static_cast<std::byte*>(memory);
  control_ = reinterpret_cast<Control*>(at);
  slots_ = reinterpret_cast<Slot*>(at + sizeof(Control));
  at += round_up(sizeof(Control) + static_cast<std::size_t>(ranks) * sizeof(Slot), kPage);
  buffers_ = at;
  maps_ = at + 2 * round_bytes;
  const auto round = static_cast<std::size_t>(round_bytes);
  map_bytes_ = round_up(round / 8 + round / 64 / kSummaryWords + 1, kPage);
  waiting_.sleepers = &control_->sleepers;
}

std::uint64_t* NodeWindow::words(int rank, int parity) const {
  return reinterpret_cast<std::uint64_t*>(maps_ + static_cast<std::size_t>(2 * rank + parity) * map_bytes_);
}

std::uint8_t* NodeWindow::summary(int rank, int parity) const {
  return reinterpret_cast<std::uint8_t*>(words(rank, parity)) + round_bytes_ / 8;
}

void NodeWindow::clear(int parity) {
  std::uint64_t* map = words(rank_, parity);
  std::uint8_t* touched = summary(rank_, parity);
  const std::int64_t summaries = (words_per_map() + kSummaryWords - 1) / kSummaryWords;
  for (std::int64_t i = 0; i < summaries; ++i) {
    if (touched[i] == 0) continue;
    const std::int64_t first = i * kSummaryWords;
    const std::int64_t count = std::min(kSummaryWords, words_per_map() - first);
    std::memset(map + first, 0, static_cast<std::size_t>(count) * sizeof(std::uint64_t));
    touched[i] = 0;
  }
}

void NodeWindow::mark(int parity, std::span<const Run> runs, std::int64_t origin) {
  mark_runs(words(rank_, parity), summary(rank_, parity), runs, origin, shift_);
}

void NodeWindow::mark_touched(int parity, std::span<const Run> runs, std::int64_t origin) {
  forebay::mark_touched(words(rank_, parity), summary(rank_, parity), runs, origin, shift_);
}

template <class Meanwhile>
void NodeWindow::barrier(Meanwhile&& meanwhile) {
  if (ranks_ == 1) return meanwhile();
  const std::uint32_t generation = control_->generation.load(std::memory_order_acquire);
  if (control_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(ranks_)) {
    control_->arrived.store(0, std::memory_order_relaxed);
    control_->generation.store(generation + 1, std::memory_order_seq_cst);
    if (control_->sleepers.load(std::memory_order_seq_cst) != 0) wake_all(control_->generation);
    return meanwhile();
  }
  meanwhile();
  wait_on(control_->generation, waiting_, [&](std::uint32_t now) { return now != generation; });
}

void NodeWindow::barrier() {
  barrier([] {});
}

bool NodeWindow::others_bypass() const {
  for (int r = 0; r < ranks_; ++r) {
    if (slots_[r].bypassing.load(std::memory_order_seq_cst) != 0) return true;
  }
  return false;
}

void NodeWindow::finish(int a, std::uint64_t sequence, int code) {
  Slot& slot = slots_[a];
  slot.finish_code.store(code, std::memory_order_relaxed);
  slot.finished.store(static_cast<std::uint32_t>(sequence), std::memory_order_seq_cst);
  if (control_->sleepers.load(std::memory_order_seq_cst) != 0) wake_all(slot.finished);
}

int NodeWindow::await_finish(int a, std::uint64_t sequence) {
  Slot& slot = slots_[a];
  wait_on(slot.finished, waiting_,
          [&](std::uint32_t now) { return now == static_cast<std::uint32_t>(sequence); });
  return slot.finish_code.load(std::memory_order_relaxed);
}

void NodeWindow::agree(std::span<std::int64_t> least, std::span<std::int64_t> sums,
                       const std::function<void()>& meanwhile) {
  // Two sets by turns: whoever is in the next agreement already leaves this one's values alone.
  const unsigned parity = agreements_++ & 1;
  const auto slot = [&](int rank, std::size_t i) -> auto& { return slots_[rank].agreed[parity][i]; };
  for (std::size_t i = 0; i < least.size(); ++i) slot(rank_, i).store(least[i], std::memory_order_relaxed);
  for (std::size_t i = 0; i < sums.size(); ++i)
    slot(rank_, least.size() + i).store(sums[i], std::memory_order_relaxed);
  barrier([&] {
    if (meanwhile) meanwhile();
  });
  for (int r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(least[i], slot(r, i).load(std::memory_order_relaxed));
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += slot(r, least.size() + i).load(std::memory_order_relaxed);
  }
}

std::int64_t NodeWindow::next_round(int parity, std::int64_t next) {
  slots_[rank_].next[parity].store(next, std::memory_order_relaxed);
  barrier();
  std::int64_t least = kNoOffset;
  for (int r = 0; r < ranks_; ++r)
    least = std::min(least, slots_[r].next[parity].load(std::memory_order_relaxed));
  return least;
}

bool NodeWindow::claim(std::uint64_t sequence, std::int64_t round) {
  constexpr int bits = 20;
  constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  // Never 0, which is what fresh memory holds.
  const std::uint64_t mine = static_cast<std::uint64_t>(round) << bits | ((sequence + 1) & mask);
  std::uint64_t seen = control_->claimed.load(std::memory_order_relaxed);
  if (seen == mine) return true;
  if ((seen & mask) == (mine & mask)) return false;
  return control_->claimed.compare_exchange_strong(seen, mine, std::memory_order_relaxed) || seen == mine;
}

void NodeWindow::announce(std::uint64_t sequence, Course course) {
  const std::int64_t values[] = {course.next, course.end};
  for (std::size_t i = 0; i < std::size(values); ++i)
    control_->course[sequence & 1][i].store(values[i], std::memory_order_relaxed);
  control_->announced.store(static_cast<std::uint32_t>(sequence), std::memory_order_seq_cst);
  if (control_->sleepers.load(std::memory_order_seq_cst) != 0) wake_all(control_->announced);
}

// The next one is announced after a barrier in which this rank takes part.
NodeWindow::Course NodeWindow::await(std::uint64_t sequence) {
  wait_on(control_->announced, waiting_,
          [&](std::uint32_t now) { return now == static_cast<std::uint32_t>(sequence); });
  const auto value = [&](int i) { return control_->course[sequence & 1][i].load(std::memory_order_relaxed); };
  return {value(0), value(1)};
}

int NodeWindow::failed_rank() const {
  for (int r = 0; r < ranks_; ++r) {
    if (slots_[r].failed.load(std::memory_order_relaxed)) return r;
  }
  return -1;
}

// Words [first, last) of the marks; how many bits are set.
std::int64_t NodeWindow::merge_words(int parity, std::int64_t first, std::int64_t last,
                                     std::uint64_t* merged) const {
  std::int64_t bits = 0, read = 0;
  for (std::int64_t word = first; word < last;) {
    const std::int64_t chunk = word / kSummaryWords;
    const std::int64_t chunk_end = std::min(last, (chunk + 1) * kSummaryWords);
    const auto count = static_cast<std::size_t>(chunk_end - word);
    std::uint64_t* out = merged + word;
    bool any = false;
    for (int r = 0; r < ranks_; ++r) {
      if (summary(r, parity)[chunk] == 0) continue;
      read += chunk_end - word;
      const std::uint64_t* in = words(r, parity) + word;
      if (any) {
        for (std::size_t i = 0; i < count; ++i) out[i] |= in[i];
      } else {
        std::memcpy(out, in, count * sizeof(std::uint64_t));
        any = true;
      }
    }
    if (!any) {
      std::memset(out, 0, count * sizeof(std::uint64_t));
    } else {
      for (std::size_t i = 0; i < count; ++i) bits += std::popcount(out[i]);
    }
    word = chunk_end;
  }
  forebay::merged(read * static_cast<std::int64_t>(sizeof(std::uint64_t)));
  return bits;
}

// The set bits of boundary words that belong to a neighbour's range.
std::int64_t NodeWindow::outside(std::int64_t first_bit, std::int64_t last_bit,
                                 const std::uint64_t* merged) const {
  const std::uint64_t before = (std::uint64_t{1} << (first_bit & 63)) - 1;
  std::int64_t bits = std::popcount(merged[first_bit >> 6] & before);
  if ((last_bit & 63) != 0) {
    const std::uint64_t after = ~std::uint64_t{0} << (last_bit & 63);
    bits += std::popcount(merged[last_bit >> 6] & after);
  }
  return bits;
}

std::int64_t NodeWindow::merge(int parity, std::int64_t begin, std::int64_t end,
                               std::uint64_t* merged) const {
  const std::int64_t first = begin >> shift_;
  const std::int64_t last = end >> shift_;  // one past
  if (first >= last) return 0;
  const std::int64_t bits = merge_words(parity, first >> 6, (last + 63) >> 6, merged);
  return (bits - outside(first, last, merged)) << shift_;
}

void NodeWindow::merge_together(int parity) {
  // Whole chunks, of which each has a byte in the ranks' summaries.
  const std::int64_t words = ((round_bytes_ >> shift_) + 63) / 64;
  const std::int64_t chunks = (words + kSummaryWords - 1) / kSummaryWords;
  const auto begin_of = [&](int rank) { return std::min(words, chunks * rank / ranks_ * kSummaryWords); };
  (void)merge_words(parity, begin_of(rank_), begin_of(rank_ + 1), shared_merged());
  barrier();
}

std::int64_t NodeWindow::copy_merged(std::int64_t begin, std::int64_t end, std::uint64_t* merged) const {
  const std::int64_t first = begin >> shift_;
  const std::int64_t last = end >> shift_;
  if (first >= last) return 0;
  std::int64_t bits = 0;
  for (std::int64_t word = first >> 6; word < (last + 63) >> 6; ++word) {
    merged[word] = shared_merged()[word];
    bits += std::popcount(merged[word]);
  }
  return (bits - outside(first, last, merged)) << shift_;
}

}  // namespace forebay
