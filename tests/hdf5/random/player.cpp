// The program's frame: its files and the choice of steps.
#include "player.hpp"

#include <array>

namespace test {

std::string path_in(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

void Player::play(int steps, Kind kind) {
  trace_.step("begin");
  create_file();
  if (all_.one_in(4)) create_file();
  for (int i = 0; i < 2; ++i) create_dataset();
  for (int step = 0; step < steps; ++step) {
    trace_.step("step " + std::to_string(step));
    if (kind == Kind::at_once) doze();
    if (kind == Kind::at_once && !all_.one_in(3)) {
      something_at_once();
    } else {
      one_step();
    }
  }
  for (const auto& file : files_) {
    trace_.step("end");
    close(*file);
    open(*file, H5F_ACC_RDONLY);
    if (file->id >= 0) read_everything(*file);
    close(*file);
  }
  MPI_Barrier(run_.comm);
}

void Player::one_step() {
  struct Choice {
    int weight;
    void (*act)(Player&);
  };
  static constexpr std::array choices{
      Choice{10, [](Player& p) { p.create_dataset(); }},
      Choice{28, [](Player& p) { p.move(true, false); }},
      Choice{14, [](Player& p) { p.move(false, false); }},
      Choice{9, [](Player& p) { p.move(true, true); }},
      Choice{4, [](Player& p) { p.move(false, true); }},
      Choice{5, [](Player& p) { p.change_attributes(); }},
      Choice{5, [](Player& p) { p.change_links(); }},
      Choice{2, [](Player& p) { p.create_group(); }},
      Choice{5, [](Player& p) { p.delete_dataset(); }},
      Choice{7, [](Player& p) { p.change_extent(); }},
      Choice{4, [](Player& p) { p.flush(); }},
      Choice{3, [](Player& p) { p.re_open(); }},
      Choice{2, [](Player& p) { p.atomic_for_a_while(); }},
      Choice{3, [](Player& p) { p.copy_dataset(); }},
      Choice{5, [](Player& p) { p.do_something_wrong(); }},
      Choice{15, [](Player& p) { p.something_at_once(); }},
      Choice{2, [](Player& p) { p.read_everything(p.pick_file()); }},
      Choice{1,
             [](Player& p) {
               if (p.files_.size() < 2) p.create_file();
             }},
  };
  int sum = 0;
  for (const Choice& c : choices) sum += c.weight;
  auto drawn = static_cast<int>(all_.below(sum));
  for (const Choice& c : choices) {
    drawn -= c.weight;
    if (drawn < 0) return c.act(*this);
  }
}

Id Player::draw_access(FileModel& file) {
  Id fapl = run_.access();
  if (file.latest) CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  if (all_.one_in(2)) CHECK(H5Pset_coll_metadata_write(fapl, true) >= 0);
  // With it, looking for chunks is collective: ranks that transfer by themselves would wait for others.
  file.collective_metadata = all_.one_in(2);
  if (file.collective_metadata) CHECK(H5Pset_all_coll_metadata_ops(fapl, true) >= 0);
  if (all_.one_in(4) && !file.userblock) {  // they have to fit to each other
    constexpr std::array<hsize_t, 3> units{8, 512, 4096};
    CHECK(H5Pset_alignment(fapl, static_cast<hsize_t>(all_.between(1, 2000)), all_.pick(units)) >= 0);
  }
  if (all_.one_in(4)) CHECK(H5Pset_meta_block_size(fapl, static_cast<hsize_t>(all_.below(9000))) >= 0);
  if (all_.one_in(4)) CHECK(H5Pset_small_data_block_size(fapl, static_cast<hsize_t>(all_.below(9000))) >= 0);
  return fapl;
}

void Player::create_file() {
  auto file = std::make_unique<FileModel>();
  file->path = run_.path + (files_.empty() ? "" : ".second");
  file->latest = all_.one_in(3);
  const Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(fcpl, false);
  file->userblock = all_.one_in(6);
  if (file->userblock) CHECK(H5Pset_userblock(fcpl, all_.one_in(2) ? 512 : 2048) >= 0);
  if (all_.one_in(3) && !file->userblock) {
    constexpr std::array strategies{H5F_FSPACE_STRATEGY_PAGE, H5F_FSPACE_STRATEGY_AGGR,
                                    H5F_FSPACE_STRATEGY_NONE};
    CHECK(H5Pset_file_space_strategy(fcpl, all_.pick(strategies), false, 1) >= 0);
    CHECK(H5Pset_file_space_page_size(fcpl, 4096) >= 0);
  }
  const Id fapl = draw_access(*file);
  file->id = trace_.sign("create file", H5Fcreate(file->path.c_str(), H5F_ACC_TRUNC, fcpl, fapl));
  files_.push_back(std::move(file));
}

void Player::open(FileModel& file, unsigned flags) {
  const Id fapl = draw_access(file);
  file.id = trace_.sign("open file", H5Fopen(file.path.c_str(), flags, fapl));
}

void Player::close(FileModel& file) {
  for (const auto& set : file.sets) let_go(*set);
  trace_.sign("close file", H5Fclose(file.id));
  file.id = H5I_INVALID_HID;
}

void Player::re_open() {
  FileModel& file = pick_file();
  close(file);
  if (all_.one_in(3)) {
    open(file, H5F_ACC_RDONLY);
    read_everything(file);
    close(file);
  }
  open(file, H5F_ACC_RDWR);
}

void Player::flush() {
  FileModel& file = pick_file();
  trace_.sign("flush", H5Fflush(file.id, all_.one_in(2) ? H5F_SCOPE_GLOBAL : H5F_SCOPE_LOCAL));
}

void Player::atomic_for_a_while() {
  FileModel& file = pick_file();
  if (trace_.sign("atomic on", H5Fset_mpi_atomicity(file.id, true)) < 0) return;
  for (std::int64_t n = all_.between(1, 3); n > 0; --n) {
    if (DatasetModel* set = pick_set(file)) {
      const bool writing = !all_.one_in(3);
      const Plan plan = draw_plan(all_, *set, run_.ranks, writing);
      move(file, {set}, {plan}, writing,
           draw_transfer(together_if(file.collective_metadata || (writing && set->together())),
                         !set->together()));
    }
  }
  hbool_t atomic = false;
  trace_.sign("get atomic", H5Fget_mpi_atomicity(file.id, &atomic));
  trace_.value("atomic", atomic);
  trace_.sign("atomic off", H5Fset_mpi_atomicity(file.id, false));
}

void Player::read_everything(FileModel& file) {
  meet(file);
  for (const auto& set : file.sets) {
    Plan plan;
    plan.style = Style::same;
    plan.seed = 0;
    plan.whole = true;
    move(file, {set.get()}, {plan}, false,
         draw_transfer(together_if(file.collective_metadata), !set->together()));
  }
}

}  // namespace test
