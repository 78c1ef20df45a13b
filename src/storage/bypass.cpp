// Deciding what passes by, and staging what must be converted on the way.
#include "storage/bypass.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace forebay {
namespace {

constexpr std::int64_t kStaging = 1 << 20;
// Runs nearer than this are cheaper read together than one by one (a read call against 2 GB/s).
constexpr std::int64_t kReadGap = 8 << 10;
// Where the file lies in memory, a call against the copy of what lies between, and another one of a run that
// could have been read to its place.
constexpr std::int64_t kReadGapInMemory = 2 << 10;
constexpr std::size_t kBatch = 512;
constexpr std::size_t kLook = 16;

std::size_t look(Cursor& cursor, std::array<Run, kLook>& first) {
  cursor.start((cursor.hull().size() / 4096 + 2) * 4096);
  return cursor.take(kNoOffset, first);
}

// Of the runs that a cursor gives first, and, where a request is worth a longer look, of some more: an array
// cut across its chunks has short runs in one of them and long ones in the next.
bool mean_reaches(Cursor& cursor, std::int64_t mean, std::size_t few = 0) {
  constexpr std::int64_t worth_it = 256 << 10;
  std::array<Run, kLook> first;
  std::size_t n = look(cursor, first);
  std::int64_t bytes = 0, runs = 0;
  const auto add = [&](std::span<const Run> more) {
    for (const Run& run : more) bytes += run.length;
    runs += static_cast<std::int64_t>(more.size());
  };
  add({first.data(), n});
  if (n <= few) return true;
  const auto reached = [&] { return runs > 0 && bytes >= mean * runs; };
  if (reached() || n < kLook || cursor.bytes() < worth_it) return reached();
  std::array<Run, kBatch> more;
  while (runs < static_cast<std::int64_t>(kBatch) && (n = cursor.take(kNoOffset, more)) > 0)
    add({more.data(), n});
  return reached();
}

template <class Chosen>
std::vector<Get> take_out_if(std::vector<Get>& gets, Chosen&& chosen) {
  std::vector<Get> out;
  std::size_t left = 0;
  for (const Get& get : gets) {
    if (chosen(*get.cursor)) {
      out.push_back(get);
    } else {
      gets[left++] = get;
    }
  }
  gets.resize(left);
  return out;
}

}  // namespace

bool Bypass::is_long(Cursor& cursor, std::int64_t least) {
  if (least <= 0 || cursor.hull().size() < least) return false;
  std::array<Run, kLook> first;
  const std::size_t n = look(cursor, first);
  return n > 0 &&
         std::ranges::all_of(std::span(first.data(), n), [&](const Run& run) { return run.length >= least; });
}

bool Bypass::long_on_average(Cursor& cursor, std::int64_t least) {
  return cursor.hull().size() >= least && mean_reaches(cursor, least);
}

// Not filled: touching all of its pages would take longer than many a small write.
std::byte* Bypass::staging() {
  if (staging_ == nullptr) staging_ = std::make_unique_for_overwrite<std::byte[]>(kStaging);
  return staging_.get();
}

bool Bypass::reserve() noexcept {
  try {
    return staging() != nullptr;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Status Bypass::take_out(std::vector<Put>& puts, std::int64_t least, std::int64_t stripe, Storage& storage,
                        Counters& counters, const std::function<void(const Put&)>& before) {
  std::vector<char> chosen(puts.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    chosen[i] = is_long(*puts[i].cursor, least) ? 1 : 0;
    any = any || chosen[i] != 0;
  }
  if (!any) return {};
  if (puts.size() > 1) {
    // Requests whose hulls overlap keep their order in the windows.
    std::vector<std::size_t> order(puts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return puts[i].cursor->hull().begin; });
    std::int64_t reach = 0;
    std::size_t reacher = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Extent hull = puts[order[k]].cursor->hull();
      if (k > 0 && hull.begin < reach) chosen[order[k]] = chosen[reacher] = 0;
      if (k == 0 || hull.end > reach) {
        reach = hull.end;
        reacher = order[k];
      }
    }
  }
  Status status;
  std::size_t out = 0;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    if (chosen[i] == 0) {
      puts[out++] = puts[i];
    } else if (status.ok()) {
      if (before) before(puts[i]);
      status = write_past(puts[i], stripe, storage, counters);
    }
  }
  puts.resize(out);
  return status;
}

Status Bypass::write_past(const Put& put, std::int64_t stripe, Storage& storage, Counters& counters) {
  const std::int64_t writes = counters.writes;
  const std::int64_t bytes = counters.written_bytes;
  Status status = write(put, stripe, storage, counters);
  counters.bypass_writes += counters.writes - writes;
  counters.bypass_bytes += counters.written_bytes - bytes;
  return status;
}

Status Bypass::write(const Put& put, std::int64_t stripe, Storage& storage, Counters& counters) {
  const Extent hull = put.cursor->hull();
  if (hull.empty()) return {};
  put.cursor->start((hull.size() / 4096 + 2) * 4096);
  const std::byte* direct = put.source->direct();

  std::int64_t staged_at = 0;
  std::int64_t staged = 0;
  const auto flush = [&]() -> Status {
    if (staged == 0) return {};
    const Piece piece{staged_at, staging(), staged};
    counters.count_write(piece.offset, piece.length, stripe);
    staged = 0;
    return storage.write({&piece, 1});
  };

  std::array<Run, kBatch> batch;
  while (const std::size_t n = put.cursor->take(kNoOffset, batch)) {
    counters.pieces += static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < n; ++i) {
      Run run = batch[i];
      counters.bytes += run.length;
      // A copy serves to join neighbours.
      const bool alone = (staged == 0 || run.file != staged_at + staged) &&
                         (i + 1 == n || batch[i + 1].file != run.file + run.length);
      if (direct != nullptr && (alone || run.length >= kStaging / 4)) {
        if (Status status = flush(); !status.ok()) return status;
        const Piece piece{run.file, direct + run.stream, run.length};
        counters.count_write(piece.offset, piece.length, stripe);
        if (Status status = storage.write({&piece, 1}); !status.ok()) return status;
        continue;
      }
      std::byte* const buffer = staging();
      while (run.length > 0) {
        if (staged > 0 && (run.file != staged_at + staged || staged == kStaging)) {
          if (Status status = flush(); !status.ok()) return status;
        }
        if (staged == 0) staged_at = run.file;
        // The first part ends on a staging boundary of the file, so that the following writes are aligned.
        const std::int64_t room = std::min(kStaging - staged, kStaging - run.file % kStaging);
        const Run part{run.file, run.stream, std::min(run.length, room)};
        put.source->produce({&part, 1}, buffer, staged_at);
        staged += part.length;
        run.file += part.length;
        run.stream += part.length;
        run.length -= part.length;
        if ((staged_at + staged) % kStaging == 0) {
          if (Status status = flush(); !status.ok()) return status;
        }
      }
    }
  }
  return flush();
}

std::vector<Get> Bypass::take_out(std::vector<Get>& gets, std::int64_t least) {
  return take_out_if(gets, [&](Cursor& cursor) { return is_long(cursor, least); });
}

std::vector<Get> Bypass::take_out(std::vector<Get>& gets, std::int64_t mean, std::size_t few) {
  return take_out_if(gets, [&](Cursor& cursor) { return mean_reaches(cursor, mean, few); });
}

Status Bypass::read(const Get& get, Storage& storage, Counters& counters) {
  const Extent hull = get.cursor->hull();
  if (hull.empty()) return {};
  get.cursor->start((hull.size() / 4096 + 2) * 4096);
  std::array<Run, kBatch> batch;
  while (const std::size_t n = get.cursor->take(kNoOffset, batch)) {
    const std::span<const Run> runs(batch.data(), n);
    counters.get_pieces += static_cast<std::int64_t>(n);
    for (const Run& run : runs) counters.get_bytes += run.length;
    if (Status status = read_runs(runs, *get.sink, storage, counters); !status.ok()) return status;
  }
  return {};
}

Status Bypass::read_runs(std::span<const Run> runs, Sink& sink, Storage& storage, Counters& counters) {
  std::byte* const direct = sink.direct();
  const std::int64_t gap = in_memory_ ? kReadGapInMemory : kReadGap;
  const bool copies_count = in_memory_ && direct != nullptr;
  for (std::size_t i = 0; i < runs.size();) {
    if (runs[i].length > kStaging) {
      if (Status status = read_long(runs[i++], sink, storage, counters); !status.ok()) return status;
      continue;
    }
    // A group: ascending runs near each other, within one staging buffer.
    const std::int64_t begin = runs[i].file;
    std::int64_t end = begin + runs[i].length;
    std::size_t last = i + 1;
    while (last < runs.size() && runs[last].file >= end &&
           runs[last].file - end + (copies_count ? runs[last].length : 0) <= gap &&
           runs[last].file + runs[last].length - begin <= kStaging) {
      end = runs[last].file + runs[last].length;
      ++last;
    }
    counters.count_read(end - begin);
    const bool alone = last == i + 1 && direct != nullptr;
    std::byte* const to = alone ? direct + runs[i].stream : staging();
    if (Status status = storage.read(begin, to, end - begin); !status.ok()) return status;
    if (!alone) sink.consume(runs.subspan(i, last - i), to, begin);
    i = last;
  }
  return {};
}

Status Bypass::read_long(Run run, Sink& sink, Storage& storage, Counters& counters) {
  if (std::byte* const direct = sink.direct(); direct != nullptr) {
    counters.count_read(run.length);
    return storage.read(run.file, direct + run.stream, run.length);
  }
  while (run.length > 0) {
    // Parts end on a staging boundary of the file, so that the reads are aligned.
    const Run part{run.file, run.stream, std::min(run.length, kStaging - run.file % kStaging)};
    counters.count_read(part.length);
    if (Status status = storage.read(part.file, staging(), part.length); !status.ok()) return status;
    sink.consume({&part, 1}, staging(), part.file);
    run = {run.file + part.length, run.stream + part.length, run.length - part.length};
  }
  return {};
}

}  // namespace forebay
