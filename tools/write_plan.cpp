// Walks the file as the rounds of a write do, and counts.
#include "write_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/memory_account.hpp"
#include "exchange/node_window.hpp"
#include "exchange/outbox.hpp"
#include "exchange/packing.hpp"
#include "exchange/round_choice.hpp"
#include "human.hpp"
#include "layout/owner_nodes.hpp"
#include "topology/topology.hpp"

namespace forebay::tools {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;
constexpr int kMostNodes = 1 << 20;
constexpr int kMostCards = 1 << 10;
// Of parts of the file that are looked at; what lies behind them goes as they do.
constexpr std::int64_t kMostParts = 400'000;

/// Where the bytes of a node lie: a piece of each of its ranks, one behind the other, again and again.
struct Interleaved {
  std::int64_t chunk;  ///< bytes
  int nodes;

  std::int64_t stride() const { return chunk * nodes; }
  std::int64_t bytes_before(std::int64_t at, int node) const {
    return at / stride() * chunk + std::clamp<std::int64_t>(at % stride() - node * chunk, 0, chunk);
  }
  std::int64_t bytes(Extent e, int node) const {
    return bytes_before(e.end, node) - bytes_before(e.begin, node);
  }
  /// How many nodes other than this one have some of it.
  std::int64_t others(Extent e, int node) const {
    const std::int64_t touched = (e.end - 1) / chunk - e.begin / chunk + 1;
    if (touched >= nodes) return nodes - 1;
    return touched - (bytes(e, node) > 0 ? 1 : 0);
  }
};

/// What an owner has of one round.
struct OwnersShare {
  std::int64_t parts = 0;
  std::int64_t bytes = 0;
  std::int64_t senders = 0;  ///< a sum over the parts
  bool all = false;          ///< nodes send
};

class Walk {
 public:
  Walk(const WriteQuestion& question, WritePlan& plan)
      : q_(question),
        p_(plan),
        nodes_{question.rank_bytes / question.rank_pieces * question.ranks_per_node, question.nodes},
        piece_(question.rank_bytes / question.rank_pieces) {}

  void run() {
    const std::int64_t end = q_.bytes();
    const std::int64_t range = p_.takes_wide ? p_.wide.range : p_.layout.round_bytes();
    const std::int64_t advance = p_.takes_wide ? wide_advance() : range;
    std::int64_t at = 0;
    while (at < end && looked_ < kMostParts) {
      // A range of wide rounds, or one round of a window.
      const std::int64_t range_end = std::min(end, at + range);
      while (at < range_end) {
        std::int64_t next = std::min(at + advance, range_end);
        if (const std::int64_t whole = next / q_stripe() * q_stripe();
            p_.takes_wide && next < range_end && whole > at)
          next = whole;
        round({at, next});
        at = next;
      }
    }
    if (at < end) extrapolate(static_cast<double>(end) / static_cast<double>(at));
    count_headers();
  }

 private:
  std::int64_t q_stripe() const { return p_.layout.stripe_bytes(); }

  // How far a wide round gets, by what a rank lists.
  std::int64_t wide_advance() const {
    const WideRounds& wide = p_.wide;
    const double cells = std::ceil(static_cast<double>(q_.bytes()) / static_cast<double>(wide.cell));
    const double touched =
        std::min(cells, static_cast<double>(q_.rank_pieces) *
                            (1 + static_cast<double>(piece_ - 1) / static_cast<double>(wide.cell)));
    const std::int64_t listed =
        Outbox::cells_listed(wide, static_cast<double>(q_.rank_bytes) / touched,
                             std::max(1.0, static_cast<double>(q_.rank_pieces) / touched));
    const double reach = std::floor(static_cast<double>(listed) * cells / touched);
    if (reach >= static_cast<double>(wide.cells())) return wide.range;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(reach)) * wide.cell;
  }

  void round(Extent e) {
    const std::int64_t block = p_.layout.block_bytes();
    const std::int64_t parts = e.size() / block;
    if (parts > kMostParts)
      sample(e, parts);
    else
      look(e);
    p_.round_bytes = std::max(p_.round_bytes, e.size());
    ++p_.rounds;
  }

  // Each owner's parts.
  void look(Extent e) {
    std::unordered_map<std::int64_t, OwnersShare> shares;
    p_.layout.in_rounds_of(e.size()).for_each_part(e.begin, e, [&](const DomainPart& part) {
      ++parts_, ++looked_;
      const Extent hull{part.begin, part.end};
      OwnersShare& share = shares[std::int64_t{part.owner.node} * p_.aggregators.count + part.owner.rail];
      const std::int64_t senders = nodes_.others(hull, part.owner.node);
      share.all = share.all || senders == q_.nodes - 1;
      share.senders += senders;
      share.bytes += hull.size();
      ++share.parts;
      p_.data_bytes += hull.size() - nodes_.bytes(hull, part.owner.node);
      if (p_.takes_wide) count_cells(hull, part.owner.node);
    });
    for (const auto& [owner, share] : shares) {
      p_.messages += std::min<std::int64_t>(share.senders, q_.nodes - 1);
      if (!share.all && share.parts > 1) p_.messages_exact = false;
      most_share_ = std::max(most_share_, share.bytes);
      most_parts_ = std::max(most_parts_, share.parts);
    }
    p_.owners_at_work = std::max(p_.owners_at_work, static_cast<int>(shares.size()));
    p_.owner_rounds += static_cast<std::int64_t>(shares.size());
  }

  // Of a round of so many parts only the first ones; the others are as they are.
  void sample(Extent e, std::int64_t parts) {
    const std::int64_t block = p_.layout.block_bytes();
    const std::int64_t taken = kMostParts / 4;
    const std::int64_t data = p_.data_bytes, cells = cells_;
    std::int64_t senders = 0;
    const std::int64_t end = e.begin + taken * block;
    p_.layout.in_rounds_of(end - e.begin).for_each_part(e.begin, {e.begin, end}, [&](const DomainPart& part) {
      const Extent hull{part.begin, part.end};
      senders += nodes_.others(hull, part.owner.node);
      p_.data_bytes += hull.size() - nodes_.bytes(hull, part.owner.node);
      if (p_.takes_wide) count_cells(hull, part.owner.node);
    });
    const double factor = static_cast<double>(e.size()) / static_cast<double>(end - e.begin);
    p_.data_bytes = data + std::llround(factor * static_cast<double>(p_.data_bytes - data));
    cells_ = cells + std::llround(factor * static_cast<double>(cells_ - cells));
    const auto owners = static_cast<int>(std::min<std::int64_t>(p_.layout.owners(), parts));
    const std::int64_t each = (parts + owners - 1) / owners;
    p_.messages += owners * std::min<std::int64_t>(q_.nodes - 1, (senders * each + taken - 1) / taken);
    p_.messages_exact = false;
    p_.owners_at_work = std::max(p_.owners_at_work, owners);
    p_.owner_rounds += owners;
    most_share_ = std::max(most_share_, each * block);
    most_parts_ = std::max(most_parts_, each);
    parts_ += parts, looked_ += taken;
  }

  void count_cells(Extent part, int owner) {
    const std::int64_t cell = p_.wide.cell;
    if (cell >= nodes_.stride() && part.size() % cell == 0) {
      cells_ += part.size() / cell * (q_.nodes - 1);
      return;
    }
    for (std::int64_t at = part.begin; at < part.end; at += cell, ++looked_)
      cells_ += nodes_.others({at, std::min(at + cell, part.end)}, owner);
  }

  void extrapolate(double factor) {
    for (std::int64_t* each : {&p_.rounds, &p_.messages, &p_.data_bytes, &p_.owner_rounds, &cells_, &parts_})
      *each = std::llround(static_cast<double>(*each) * factor);
    p_.messages_exact = false;
  }

  // Of pieces that lie anywhere: no two of a node touch.
  void count_headers() {
    if (p_.messages == 0) return;
    const int alignment = std::min(12, std::countr_zero(static_cast<std::uint64_t>(piece_)));
    const int shift = p_.takes_wide ? p_.wide.granule(alignment) : alignment;
    const std::int64_t units = p_.takes_wide ? cells_ : p_.messages;  // each with a header
    const std::int64_t ends = p_.takes_wide ? q_.bytes() / p_.wide.cell : parts_;
    const double across = static_cast<double>(q_.nodes - 1) / q_.nodes;
    const double runs = across * (static_cast<double>(q_.ranks()) * static_cast<double>(q_.rank_pieces) +
                                  static_cast<double>(ends));
    const auto each = std::max<std::int64_t>(1, std::llround(std::ceil(runs / static_cast<double>(units))));
    const std::int64_t span = (p_.takes_wide ? p_.wide.cell : p_.round_bytes) >> shift;
    const std::int64_t marks = p_.takes_wide ? span : (most_share_ >> shift) + 64 * most_parts_;
    const std::int64_t header =
        most_header_bytes(each, std::max<std::int64_t>(1, piece_ >> shift), span, marks) +
        (p_.takes_wide ? static_cast<std::int64_t>(sizeof(CellHead)) : 0);
    p_.most_header_bytes = units * header;
  }

  const WriteQuestion& q_;
  WritePlan& p_;
  Interleaved nodes_;
  std::int64_t piece_;
  std::int64_t parts_ = 0;
  std::int64_t looked_ = 0;  // at parts and cells
  std::int64_t cells_ = 0;   // messages of cells
  std::int64_t most_share_ = 0, most_parts_ = 0;
};

Status check(const WriteQuestion& q) {
  const auto wrong = [](std::string why) { return Status{Code::bad_hint, std::move(why)}; };
  if (q.nodes < 1 || q.nodes > kMostNodes)
    return wrong(fmt::format("the number of nodes is 1 to {}", kMostNodes));
  if (q.ranks_per_node < 1 || q.ranks() > std::numeric_limits<int>::max())
    return wrong("the number of ranks is at least 1 a node, and below 2^31 on all");
  if (q.rank_bytes < 1 || q.rank_bytes > kMostBytes / q.ranks())
    return wrong("each rank puts at least 1 byte, and all together at most 2^60");
  if (q.rank_pieces < 1 || q.rank_pieces > q.rank_bytes)
    return wrong("a rank has at least 1 piece, and no more pieces than bytes");
  if (q.rank_bytes % q.rank_pieces != 0)
    return wrong(
        fmt::format("{} bytes are no whole bytes for each of {} pieces", q.rank_bytes, q.rank_pieces));
  if (q.stripe_count < 0 || q.stripe_count > kMostNodes)
    return wrong(fmt::format("the stripe count is 0 (not known) to {}", kMostNodes));
  if (q.domains < 1 || q.domains > q.ranks_per_node)
    return wrong("a node has 1 NUMA domain to as many as ranks: those without ranks do not count");
  if (q.cards < 0 || q.cards > kMostCards)
    return wrong(fmt::format("a node has 0 (not known) to {} network cards", kMostCards));
  return {};
}

std::string why_this_kind(const WriteQuestion& q, const WritePlan& p) {
  if (q.nodes == 1) return "one node: nothing goes between nodes";
  if (p.takes_wide) {
    if (q.settings.rounds == Rounds::wide) return "asked for";
    if (all_at_work(p.layout)) return "with so many ranks on a node most of a window is marks";
    return fmt::format("a window takes {} of the file, less than a stripe for each of {}",
                       human_bytes(p.layout.round_bytes()), counted(p.layout.owners(), "owner", "owners"));
  }
  if (q.settings.rounds == Rounds::window) return "asked for";
  if (p.wide.possible()) return "one round of a window takes the whole write";
  if (all_at_work(p.layout) && q.settings.rounds == Rounds::automatic)
    return "a window takes a stripe for each owner";
  if (p.layout.stripe_bytes() % 4096 != 0) return "stripes are no multiple of 4096 bytes, so no wide rounds";
  return "the memory is too little for wide rounds";
}

// ---- what bounds it, and what helps ----

int nodes_that_own(const WriteQuestion& q, const WritePlan& p) {
  return p.owning.empty() ? q.nodes : static_cast<int>(p.owning.size());
}

Status plan_numbers(const WriteQuestion& q, WritePlan& p) {
  if (Status wrong = check(q); !wrong.ok()) return wrong;
  p = {};
  const Settings& s = q.settings;
  auto owning = owner_nodes(s.owner_nodes, q.nodes);
  if (!owning)
    return {Code::bad_hint, fmt::format("forebay_owner_nodes={} names no node: the last one is number {}",
                                        text_of(s.owner_nodes), q.nodes - 1)};
  p.owning = std::move(*owning);
  p.aggregators =
      count_aggregators(s.aggregators_per_node, s.aggregators, nodes_that_own(q, p), q.ranks_per_node,
                        aggregators_for({q.ranks_per_node, q.domains, q.cards}));
  const RoundMemory memory = memory_for_rounds(s, {q.ranks_per_node, memory_left_for_windows(s)});
  const std::int64_t stripe = s.stripe_bytes > 0    ? s.stripe_bytes
                              : s.striping_unit > 0 ? s.striping_unit
                                                    : kDefaultStripe;
  const Striping striping{stripe, q.stripe_count};
  RoundChoice choice =
      choose_rounds(s, {{q.nodes, p.aggregators.count, p.owning}, q.ranks_per_node}, striping, memory);
  p.layout = std::move(choice.layout);
  p.wide = choice.wide;
  p.takes_wide = takes_wide(s, p.layout, p.wide, {0, q.bytes()}, Direction::write);
  Walk(q, p).run();
  p.window_bytes =
      static_cast<std::int64_t>(NodeWindow::bytes_needed(q.ranks_per_node, p.layout.round_bytes()));
  if (p.takes_wide)
    p.outbox_bytes = static_cast<std::int64_t>(Outbox::bytes_needed(p.wide, q.ranks_per_node));
  p.why = why_this_kind(q, p);
  return {};
}

int most_owners(const WriteQuestion& q, const WritePlan& p) {
  return nodes_that_own(q, p) * p.aggregators.count;
}

/// The first of the changed questions whose plan is better; `change` changes it once more and says how, or
/// returns false.
template <class Change, class Better>
std::optional<std::string> find_change(const WriteQuestion& q, Change&& change, Better&& better) {
  WriteQuestion other = q;
  std::string how;
  while (change(other, how)) {
    WritePlan plan;
    if (plan_numbers(other, plan).ok() && better(plan)) return how;
  }
  return std::nullopt;
}

std::optional<std::string> more_memory(const WriteQuestion& q,
                                       bool (*better)(const WritePlan& then, const WritePlan& now),
                                       const WritePlan& now) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  return find_change(
      q,
      [&](WriteQuestion& other, std::string& how) {
        other.settings.memory_bytes *= 2;
        how = fmt::format("forebay_memory_bytes={} ({} a rank)", other.settings.memory_bytes,
                          human_bytes(other.settings.memory_bytes));
        return other.settings.memory_bytes <= most;
      },
      [&](const WritePlan& then) { return better(then, now); });
}

bool busier(const WritePlan& then, const WritePlan& now) {
  return then.owners_at_work > now.owners_at_work;
}
bool larger_messages(const WritePlan& then, const WritePlan& now) {
  return then.payload_a_message() >= 2 * now.payload_a_message();
}

void tell_idle_owners(const WriteQuestion& q, WritePlan& p) {
  const int owners = p.layout.owners();
  if (q.bytes() <= p.layout.block_bytes() * (owners - 1)) {
    p.bound = fmt::format(
        "the write is too small for its owners: it has {} of {}, and {} could own one",
        counted((q.bytes() + p.layout.block_bytes() - 1) / p.layout.block_bytes(), "stripe", "stripes"),
        human_bytes(p.layout.block_bytes()), human_count(owners));
    const auto how = find_change(
        q,
        [&](WriteQuestion& other, std::string& text) {
          std::int64_t& stripe = other.settings.stripe_bytes;
          stripe = (stripe > 0 ? stripe : p.layout.stripe_bytes()) / 2;
          text = fmt::format("forebay_stripe_bytes={}, if the file system's own are no larger", stripe);
          return stripe >= 64 << 10;
        },
        [&](const WritePlan& then) { return busier(then, p); });
    p.change = how.value_or("nothing: so small a write is done soon");
    return;
  }
  p.bound = fmt::format("in a round {} of {} are at work: the window holds {} of the file",
                        human_count(p.owners_at_work), counted(owners, "owner", "owners"),
                        human_bytes(p.round_bytes));
  if (q.settings.rounds == Rounds::window && q.nodes > 1) {
    WriteQuestion other = q;
    other.settings.rounds = Rounds::automatic;
    WritePlan then;
    if (plan_numbers(other, then).ok() && busier(then, p)) {
      p.change = "forebay_rounds=automatic";
      return;
    }
  }
  p.change = more_memory(q, busier, p).value_or("nothing that memory or stripes would do");
}

void tell_bound(const WriteQuestion& q, WritePlan& p) {
  const int owners = p.layout.owners();
  if (p.owners_at_work < owners) return tell_idle_owners(q, p);
  if (owners < most_owners(q, p)) {
    p.bound = fmt::format("the stripe count: {} let {} of {} own bytes",
                          counted(q.stripe_count, "storage target", "storage targets"), human_count(owners),
                          counted(most_owners(q, p), "aggregator", "aggregators"));
    p.change = fmt::format("a stripe count of {}, or a multiple of it", most_owners(q, p));
    return;
  }
  if (p.messages > 0 && p.payload_a_message() < kWorthyMessage) {
    p.bound = fmt::format("messages between nodes: each carries {}, which is mostly latency",
                          human_bytes(p.payload_a_message()));
    auto how = more_memory(q, larger_messages, p);
    if (!how && p.aggregators.count > 1) {
      WriteQuestion other = q;
      other.settings.aggregators_per_node = 1;
      WritePlan then;
      if (plan_numbers(other, then).ok() && larger_messages(then, p)) how = "forebay_aggregators_per_node=1";
    }
    p.change = how.value_or("more bytes a write: commit mode gathers those of many calls");
    return;
  }
  if (q.nodes == 1) {
    p.bound =
        fmt::format("the file system, and how fast {} of one node write", counted(owners, "owner", "owners"));
    p.change = "forebay_aggregators_per_node, by trying, if the file system is faster than they are";
    return;
  }
  p.bound = fmt::format(
      "the network or the file system: all owners are at work, and {:.0f} % of the bytes "
      "go to another node",
      100 * static_cast<double>(p.data_bytes) / static_cast<double>(q.bytes()));
  p.change = "nothing here";
}

}  // namespace

double WritePlan::messages_an_owner_and_round() const {
  return owner_rounds == 0 ? 0 : static_cast<double>(messages) / static_cast<double>(owner_rounds);
}

Status plan_write(const WriteQuestion& question, WritePlan& out) {
  if (Status wrong = plan_numbers(question, out); !wrong.ok()) return wrong;
  tell_bound(question, out);
  return {};
}

}  // namespace forebay::tools
