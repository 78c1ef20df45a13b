// Sequences in which the program itself meets nowhere: HDF5 or its driver alone keep the ranks' accesses in
// order. What fills a dataset is written by one rank or shared out, and others write data over it at once; a
// deleted dataset's space is another's next, written by other ranks than before.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "player.hpp"

namespace test {
namespace {

constexpr std::size_t kMostSets = 16;

/// Few chunks at times, so that ranks without one come to their data first.
std::vector<hsize_t> draw_chunk_of(Dice& all, const std::vector<hsize_t>& dims) {
  constexpr std::array parts{1, 2, 3, 5, 16};
  std::vector<hsize_t> chunk = dims;
  const auto n = static_cast<hsize_t>(all.pick(parts));
  chunk[0] = std::max<hsize_t>(1, (chunk[0] + n - 1) / n);
  if (chunk.size() > 1 && all.one_in(2)) chunk[1] = (chunk[1] + 1) / 2;
  return chunk;
}

}  // namespace

void Player::doze() {
  constexpr std::array naps{0, 0, 300, 1000, 4000};  // microseconds
  const int nap = all_.pick(naps);
  const bool mine = all_.below(run_.ranks) == run_.rank;
  if (mine && nap > 0) ::usleep(static_cast<useconds_t>(nap));
}

/// Allocated at once, `filled` at once as well; of so many bytes, in one dimension or two.
DatasetModel* Player::add_plain(FileModel& file, Layout layout, hsize_t bytes, bool filled) {
  auto set = std::make_unique<DatasetModel>();
  set->layout = layout;
  auto types = file_types();
  set->type = &all_.pick(types);
  const hsize_t elements = std::max<hsize_t>(16, bytes / set->type->size);
  set->dims = {elements};
  if (all_.one_in(2)) set->dims = {elements / 8, 8};
  set->most = set->dims;
  const Id dcpl(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(dcpl, false);
  H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
  if (layout == Layout::chunked) {
    const std::vector<hsize_t> chunk = draw_chunk_of(all_, set->dims);
    CHECK(H5Pset_chunk(dcpl, static_cast<int>(chunk.size()), chunk.data()) >= 0);
    set->most[0] = H5S_UNLIMITED;
  }
  H5Pset_fill_time(dcpl, filled ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
  set->fills = filled;
  if (filled && all_.one_in(2)) {
    const int fill = static_cast<int>(all_.between(1, 100));
    set->fill = fill;
    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
  }
  return add_dataset(file, std::move(set), dcpl);
}

/// Each rank a part, shared out anew at each call, by itself where it can; elements between the parts stay as
/// they are at times.
void Player::write_apart(FileModel& file, DatasetModel& set) {
  constexpr std::array styles{Style::slabs, Style::cyclic, Style::blocks, Style::points};
  Plan plan = draw_plan(all_, set, run_.ranks, true);
  plan.style = all_.pick(styles);
  plan.dim = 0;
  if (!all_.one_in(4)) plan.idle = 0;
  doze();
  // Where looking for chunks is collective, nobody transfers them alone.
  const bool alone = set.layout == Layout::contiguous || !file.collective_metadata;
  move(file, {&set}, {plan}, true, draw_transfer(alone ? Moves::alone : Moves::together, true));
}

void Player::check_all_of(FileModel& file, DatasetModel& set) {
  meet(file);
  Plan plan;
  plan.whole = true;
  plan.style = Style::same;
  move(file, {&set}, {plan}, false, draw_transfer(together_if(file.collective_metadata), true));
}

void Player::something_at_once() {
  switch (all_.below(8)) {
    case 0:
      return grow_and_write_at_once();
    case 1:
    case 2:
    case 3:
      return fill_and_write_at_once();
    default:
      return use_space_again();
  }
}

void Player::fill_and_write_at_once() {
  FileModel& file = pick_file();
  if (file.sets.size() >= kMostSets) return;
  const bool chunked = !file.collective_metadata && !all_.one_in(3);
  const auto bytes = static_cast<hsize_t>(all_.between(64, all_.one_in(4) ? 60000 : 4000));
  DatasetModel* set = add_plain(file, chunked ? Layout::chunked : Layout::contiguous, bytes, true);
  if (set == nullptr) return;
  write_apart(file, *set);
  if (!all_.one_in(4)) check_all_of(file, *set);
}

void Player::grow_and_write_at_once() {
  FileModel& file = pick_file();
  if (file.sets.size() >= kMostSets || file.collective_metadata) return;
  const auto bytes = static_cast<hsize_t>(all_.between(64, 3000));
  DatasetModel* set = add_plain(file, Layout::chunked, bytes, true);
  if (set == nullptr) return;
  for (std::int64_t n = all_.between(1, 3); n > 0; --n) {
    std::vector<hsize_t> wanted = set->dims;
    wanted[0] += static_cast<hsize_t>(all_.between(1, 2 * static_cast<std::int64_t>(wanted[0])));
    // The ranks go on from here without each other, but for what HDF5 does.
    meet_if_touched(file, *set);
    if (trace_.sign("growth of " + set->paths.back(), H5Dset_extent(handle(file, *set), wanted.data())) < 0)
      return;
    set->set_extent(wanted);
    write_apart(file, *set);
  }
  check_all_of(file, *set);
}

void Player::use_space_again() {
  FileModel& file = pick_file();
  if (file.sets.size() >= kMostSets) return;
  const auto bytes = static_cast<hsize_t>(8 * all_.between(8, all_.one_in(4) ? 8000 : 500));
  const auto layout = [this] { return all_.one_in(2) ? Layout::chunked : Layout::contiguous; };
  if (add_plain(file, layout(), bytes, all_.one_in(2)) == nullptr) return;
  write_apart(file, *file.sets.back());
  for (std::int64_t n = all_.between(1, 3); n > 0; --n) {
    if (all_.one_in(3)) doze();
    MPI_Barrier(run_.comm);  // all that a program needs before it deletes what its ranks wrote
    // Of other datasets nodes may keep something still, which others do not see.
    if (!always_flushes) ++now_;
    unlink(file, file.sets.size() - 1, all_.one_in(2));
    const std::int64_t next = all_.below(8);
    if (next == 0) return change_attributes();
    if (next == 1) return change_links();
    // The same bytes for the new one, or some of them.
    const hsize_t again = all_.one_in(3) ? std::max<hsize_t>(64, bytes / 2) : bytes;
    if (add_plain(file, layout(), again, !all_.one_in(3)) == nullptr) return;
    write_apart(file, *file.sets.back());
  }
  check_all_of(file, *file.sets.back());
}

}  // namespace test
