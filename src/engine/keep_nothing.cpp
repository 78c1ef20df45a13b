#include "engine/keep_nothing.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/collective.hpp"
#include "engine/file_context.hpp"

namespace forebay {

Status KeepNothing::write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                              When /*when*/) {
  FileContext& f = file_;
  if (f.long_run() > 0 && mine.ok()) {
    try {
      const StageTimer timer(f.counters, Stage::write);
      // Others may still be in what they write by themselves.
      const Sieve::Bypassing bypassing(f.gate(), f.file.descriptor());
      mine = f.bypass.take_out(puts, f.long_run(), f.layout.stripe_bytes(), *f.storage, f.counters);
    } catch (const std::bad_alloc&) {
      mine = f.no_memory("for a collective write to ");
      puts.clear();
    }
  }
  return collective_write(f, puts, std::move(mine), agree_max);
}

Status KeepNothing::write(std::span<const Put> puts, When /*when*/) {
  FileContext& f = file_;
  NodeWindow* const gate = f.gate();
  if (gate == nullptr) return f.write_now(puts);
  const std::int64_t stripe = f.layout.stripe_bytes();
  Status status;
  try {
    for (const Put& put : puts) {
      if (!status.ok()) break;
      if (!f.given_away && Sieve::worth(*put.cursor) &&
          sieve_.write(put, f.file.descriptor(), *gate, f.file.mark(), *f.storage, stripe, f.counters,
                       status))
        continue;
      const Sieve::Bypassing bypassing(gate, f.file.descriptor());
      status = f.bypass.write(put, stripe, *f.storage, f.counters);
    }
  } catch (const std::bad_alloc&) {
    status = f.no_memory("for a write to ");
  }
  return status;
}

Status KeepNothing::write_at(const Piece& piece) {
  const Sieve::Bypassing bypassing(file_.gate(), file_.file.descriptor());
  return file_.storage->write({&piece, 1});
}

bool KeepNothing::completes(std::span<const Put> puts) const {
  if (file_.file.views_differ()) return !puts.empty();
  return file_.gate() != nullptr && !puts.empty() &&
         std::all_of(puts.begin(), puts.end(), [](const Put& put) { return Sieve::worth(*put.cursor); });
}

Status KeepNothing::begin_direct_writes(bool /*collective*/) {
  direct_writes_.emplace(file_.gate(), file_.file.descriptor());
  return {};
}

void KeepNothing::handle_given_away() {
  if (!file_.given_away) file_.given_away.emplace(file_.gate(), file_.file.descriptor());
}

}  // namespace forebay
