// The word: the user, a ticket that counts the leases, and how many ranks are in.
#include "exchange/node_lease.hpp"

#include "base/waiting.hpp"

namespace forebay {
namespace {

constexpr int kCountBits = 16, kTicketBits = 24;
constexpr std::uint64_t kCount = (std::uint64_t{1} << kCountBits) - 1;
constexpr std::uint64_t kTicket = (std::uint64_t{1} << kTicketBits) - 1;

std::uint64_t ticket_of(std::uint64_t word) {
  return word >> kCountBits & kTicket;
}
std::uint32_t user_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> (kCountBits + kTicketBits));
}

}  // namespace

bool NodeLease::enter(std::uint32_t user, void (*idle)()) {
  std::uint64_t seen = word_->load(std::memory_order_acquire);
  for (;;) {
    const bool taken = (seen & kCount) != 0;
    if (!taken || user_of(seen) == user) {
      const std::uint64_t ticket = taken ? ticket_of(seen) : (ticket_of(seen) + 1) & kTicket;
      const std::uint64_t mine = (std::uint64_t{user} << (kCountBits + kTicketBits)) |
                                 (ticket << kCountBits) | ((seen & kCount) + 1);
      // Before others can see it: whoever of this process finds the lease taken has to know by whom.
      inside_.fetch_add(1, std::memory_order_seq_cst);
      if (word_->compare_exchange_weak(seen, mine, std::memory_order_acq_rel, std::memory_order_acquire))
        return true;
      inside_.fetch_sub(1, std::memory_order_seq_cst);
      continue;
    }
    if (inside_.load(std::memory_order_seq_cst) > 0 ||
        ticket_of(seen) != left_.load(std::memory_order_seq_cst))
      return false;
    if (idle != nullptr) idle();
    yield();
    seen = word_->load(std::memory_order_acquire);
  }
}

void NodeLease::leave() {
  left_.store(ticket_of(word_->load(std::memory_order_relaxed)), std::memory_order_seq_cst);
  word_->fetch_sub(1, std::memory_order_acq_rel);
  inside_.fetch_sub(1, std::memory_order_seq_cst);
}

bool NodeLease::is_free() const {
  return (word_->load(std::memory_order_acquire) & kCount) == 0;
}

}  // namespace forebay
