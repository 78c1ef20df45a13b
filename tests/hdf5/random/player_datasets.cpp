// Creation, deletion, growth and copies of datasets.
#include <algorithm>
#include <array>

#include "player.hpp"

namespace test {
namespace {

constexpr std::int64_t kMostElements = 60000;

std::int64_t product(const std::vector<hsize_t>& dims) {
  std::int64_t n = 1;
  for (hsize_t d : dims) n *= static_cast<std::int64_t>(d);
  return n;
}

std::vector<hsize_t> draw_dims(Dice& all, Layout layout) {
  const std::int64_t rank = all.between(1, 3);
  const std::int64_t longest = layout == Layout::compact ? (rank == 1   ? 500
                                                            : rank == 2 ? 20
                                                                        : 7)
                               : rank == 1               ? (all.one_in(10) ? 40000 : 2000)
                               : rank == 2               ? 60
                                                         : 14;
  std::vector<hsize_t> dims;
  for (std::int64_t d = 0; d < rank; ++d) dims.push_back(static_cast<hsize_t>(all.between(1, longest)));
  return dims;
}

/// Each dimension cut into at most so many that there are not thousands of chunks.
std::vector<hsize_t> draw_chunk(Dice& all, const std::vector<hsize_t>& dims) {
  const std::int64_t parts = dims.size() == 1 ? 40 : dims.size() == 2 ? 8 : 4;
  std::vector<hsize_t> chunk;
  for (hsize_t d : dims) {
    const auto length = static_cast<std::int64_t>(std::max<hsize_t>(d, 4));
    chunk.push_back(static_cast<hsize_t>(std::max<std::int64_t>(1, length / all.between(1, parts))));
  }
  return chunk;
}

std::string describe(const DatasetModel& set, hid_t dcpl) {
  constexpr std::array layouts{" contiguous", " chunked", " compact"};
  constexpr std::array times{" fill at allocation", " fill never", " fill if set"};
  constexpr std::array allocations{"", ", early", ", late", ", bit by bit"};
  H5D_fill_time_t time = H5D_FILL_TIME_ALLOC;
  H5Pget_fill_time(dcpl, &time);
  H5D_alloc_time_t allocation = H5D_ALLOC_TIME_DEFAULT;
  H5Pget_alloc_time(dcpl, &allocation);
  std::string text = std::string(" ") + set.type->name + layouts[static_cast<std::size_t>(set.layout)];
  text += times[static_cast<std::size_t>(time)];
  text += allocations[static_cast<std::size_t>(allocation)];
  if (set.filtered) text += ", filtered";
  for (hsize_t d : set.dims) text += " " + std::to_string(d);
  return text;
}

}  // namespace

Id Player::draw_creation(DatasetModel& set, std::vector<hsize_t>& chunk) {
  Id dcpl(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(dcpl, false);
  const bool chunked = set.layout == Layout::chunked;
  if (set.layout == Layout::compact) H5Pset_layout(dcpl, H5D_COMPACT);
  if (chunked) {
    chunk = draw_chunk(all_, set.dims);
    CHECK(H5Pset_chunk(dcpl, static_cast<int>(chunk.size()), chunk.data()) >= 0);
    if (all_.one_in(3)) {
      if (all_.one_in(2)) H5Pset_shuffle(dcpl);
      if (!all_.one_in(4)) H5Pset_deflate(dcpl, static_cast<unsigned>(all_.between(1, 6)));
      if (all_.one_in(4)) H5Pset_fletcher32(dcpl);
      set.filtered = H5Pget_nfilters(dcpl) > 0;
    }
  }
  constexpr std::array times{H5D_FILL_TIME_ALLOC, H5D_FILL_TIME_IFSET, H5D_FILL_TIME_NEVER};
  const H5D_fill_time_t time = all_.pick(times);
  H5Pset_fill_time(dcpl, time);
  const std::int64_t value = all_.below(4);
  if (value == 0) {
    H5Pset_fill_value(dcpl, set.type->id(), nullptr);
  } else if (value > 1) {
    const int fill = static_cast<int>(all_.between(1, 100));
    set.fill = fill;
    CHECK(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
  }
  set.fills = value != 0 && (time == H5D_FILL_TIME_ALLOC || (time == H5D_FILL_TIME_IFSET && value > 1));
  if (all_.one_in(2)) {
    constexpr std::array when{H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_INCR};
    H5Pset_alloc_time(dcpl, all_.pick(when));
  }
  return dcpl;
}

void Player::create_dataset() {
  FileModel& file = pick_file();
  if (file.sets.size() >= 12) return;
  auto set = std::make_unique<DatasetModel>();
  set->layout = all_.one_in(10) ? Layout::compact : all_.one_in(2) ? Layout::chunked : Layout::contiguous;
  auto types = file_types();
  set->type = &all_.pick(types);
  set->dims = draw_dims(all_, set->layout);
  std::vector<hsize_t> chunk;
  const Id dcpl = draw_creation(*set, chunk);
  set->most = set->dims;
  if (set->layout == Layout::chunked) {
    for (std::size_t d = 0; d < set->most.size(); ++d) {
      // In the latest format HDF5 (1.14.5, one rank suffices) numbers filtered chunks that are written
      // together by the extent of today, and looks for them by the largest one.
      if (d > 0 && set->filtered && file.latest) break;
      if (all_.one_in(2)) set->most[d] = all_.one_in(3) ? set->most[d] * 2 : H5S_UNLIMITED;
    }
    if (all_.one_in(12) && set->most[0] == H5S_UNLIMITED) set->dims[0] = 0;
  }
  DatasetModel* fresh = add_dataset(file, std::move(set), dcpl);
  // At once: what fills it must not come later.
  if (fresh == nullptr || all_.one_in(4)) return;
  const Plan plan = draw_plan(all_, *fresh, run_.ranks, true);
  move(file, {fresh}, {plan}, true,
       draw_transfer(together_if(file.collective_metadata || fresh->together()), !fresh->together()));
}

DatasetModel* Player::add_dataset(FileModel& file, std::unique_ptr<DatasetModel> set, const Id& creation) {
  const std::vector<hsize_t> dims = set->dims;
  set->dims.clear();
  set->set_extent(dims);
  const Id extent(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), set->most.data()));
  const std::string path = path_in(all_.pick(file.groups), new_name("set"));
  set->open = trace_.sign(
      "create " + path + describe(*set, creation),
      H5Dcreate2(file.id, path.c_str(), set->type->id(), extent, H5P_DEFAULT, creation, H5P_DEFAULT));
  if (set->open < 0) return nullptr;
  if (set->layout == Layout::contiguous) trace_.value("offset", H5Dget_offset(set->open));
  set->paths.push_back(path);
  file.sets.push_back(std::move(set));
  return file.sets.back().get();
}

hid_t Player::handle(FileModel& file, DatasetModel& set) {
  if (set.open < 0)
    set.open =
        trace_.sign("open " + set.paths.back(), H5Dopen2(file.id, set.paths.back().c_str(), H5P_DEFAULT));
  return set.open;
}

void Player::let_go(DatasetModel& set) {
  if (set.open >= 0) trace_.sign("close dataset", H5Dclose(set.open));
  set.open = H5I_INVALID_HID;
}

DatasetModel* Player::pick_set(FileModel& file) {
  return file.sets.empty() ? nullptr : all_.pick(file.sets).get();
}

void Player::delete_dataset() {
  FileModel& file = pick_file();
  if (file.sets.size() < 2) return;
  const auto at = static_cast<std::size_t>(all_.below(static_cast<std::int64_t>(file.sets.size())));
  DatasetModel& set = *file.sets[at];
  meet_if_touched(file, set);  // its space may be another's next
  if (!unlink(file, at, all_.one_in(2))) return;
  if (all_.one_in(2)) create_dataset();
  if (all_.one_in(2)) move(true, false);
}

bool Player::unlink(FileModel& file, std::size_t at, bool close_first) {
  DatasetModel& set = *file.sets[at];
  if (close_first) let_go(set);
  const std::string path = set.paths.back();
  set.paths.pop_back();
  trace_.sign("delete " + path, H5Ldelete(file.id, path.c_str(), H5P_DEFAULT));
  if (!set.paths.empty()) return false;
  let_go(set);
  file.sets.erase(file.sets.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

void Player::change_extent() {
  FileModel& file = pick_file();
  DatasetModel* set = pick_set(file);
  if (set == nullptr || set->dims == set->most) return;
  std::vector<hsize_t> wanted = set->dims;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (all_.one_in(3)) continue;
    const hsize_t grown = std::min<hsize_t>(set->most[d], wanted[d] + wanted[d] / 2 + 3);
    wanted[d] = static_cast<hsize_t>(all_.one_in(3) ? all_.below(static_cast<std::int64_t>(wanted[d]) + 1)
                                                    : all_.between(0, static_cast<std::int64_t>(grown)));
  }
  if (product(wanted) > kMostElements) return;
  meet_if_touched(file, *set);
  std::string text = "extent of " + set->paths.back();
  for (hsize_t d : wanted) text += " " + std::to_string(d);
  if (trace_.sign(text, H5Dset_extent(handle(file, *set), wanted.data())) < 0) return;
  set->set_extent(wanted);
  // HDF5 fills what was cut off of the outermost chunks in each rank's cache, and neither a direct write nor
  // a flush looks for them there: they come out at close, over what was written meanwhile, or, where they are
  // filtered and not as long as before, over what another rank still reads to do the same.
  MPI_Barrier(run_.comm);
  let_go(*set);
  meet(file);
}

void Player::copy_dataset() {
  FileModel& from = pick_file();
  FileModel& to = pick_file();
  DatasetModel* set = pick_set(from);
  if (set == nullptr || to.sets.size() >= 12) return;
  const std::string path = path_in(all_.pick(to.groups), new_name("copy"));
  // Every rank reads all of it and writes all of the copy.
  meet(from);
  if (trace_.sign(
          "copy " + set->paths.back() + " to " + path,
          H5Ocopy(from.id, set->paths.back().c_str(), to.id, path.c_str(), H5P_DEFAULT, H5P_DEFAULT)) < 0)
    return;
  auto copy = std::make_unique<DatasetModel>(*set);
  copy->open = H5I_INVALID_HID;
  copy->paths = {path};
  meet(from);
  to.sets.push_back(std::move(copy));
}

}  // namespace test
