// Plays one random program. What it does is drawn from its seed alone, the same on all ranks and with both
// drivers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../dice.hpp"
#include "../harness.hpp"
#include "model.hpp"
#include "selection.hpp"
#include "trace.hpp"

namespace test {

struct FileModel {
  std::string path;
  hid_t id = H5I_INVALID_HID;
  bool latest = false;
  bool userblock = false;
  bool collective_metadata = false;  ///< what is looked for in the file is, by all ranks together
  std::vector<std::string> groups{"/"};
  std::vector<std::string> attributes;  ///< of the root group
  std::vector<std::string> links;       ///< to nothing that matters; by full path
  std::vector<std::unique_ptr<DatasetModel>> sets;
};

enum class Kind {
  mixed,    ///< a bit of everything
  at_once,  ///< mostly sequences whose order HDF5 and its driver keep
};

class Player {
 public:
  Player(const Run& run, Trace& trace, std::uint64_t seed) : run_(run), trace_(trace), all_(seed) {}

  /// Between nodes, in commit mode, ranks see each other's writes after a flush.
  bool always_flushes = false;

  /// Collective. The files are closed afterwards.
  void play(int steps, Kind kind);
  const std::vector<std::unique_ptr<FileModel>>& files() const { return files_; }

 private:
  /// How data moves in one call.
  struct Transfer {
    Id list;
    std::string text;
    bool collective = false;
    bool may_change_buffer = false;
  };

  enum class Moves { either, together, alone };
  static Moves together_if(bool needed) { return needed ? Moves::together : Moves::either; }

  void one_step();

  // player.cpp: files
  Id draw_access(FileModel& file);
  void create_file();
  void open(FileModel& file, unsigned flags);
  void close(FileModel& file);
  void re_open();
  void flush();
  void atomic_for_a_while();
  void read_everything(FileModel& file);

  // player_datasets.cpp
  void create_dataset();
  /// Null, and said, where that fails.
  DatasetModel* add_dataset(FileModel& file, std::unique_ptr<DatasetModel> set, const Id& creation);
  Id draw_creation(DatasetModel& set, std::vector<hsize_t>& chunk);
  void delete_dataset();
  /// By its last path; true if no other is left, and `set` is gone.
  bool unlink(FileModel& file, std::size_t set, bool close_first);
  void change_extent();
  void copy_dataset();
  hid_t handle(FileModel& file, DatasetModel& set);
  void let_go(DatasetModel& set);
  DatasetModel* pick_set(FileModel& file);

  // player_transfers.cpp
  Transfer draw_transfer(Moves moves, bool may_be_individual, bool several = false);
  void move(bool writing, bool several);
  void move(FileModel& file, const std::vector<DatasetModel*>& sets, const std::vector<Plan>& plans,
            bool writing, const Transfer& how);
  /// A meeting of all ranks, with a flush before it at times.
  void meet(FileModel& file);
  void meet_if_touched(FileModel& file, const DatasetModel& set);

  // player_at_once.cpp
  void something_at_once();
  void fill_and_write_at_once();
  void grow_and_write_at_once();
  void use_space_again();
  DatasetModel* add_plain(FileModel& file, Layout layout, hsize_t bytes, bool filled);
  void write_apart(FileModel& file, DatasetModel& set);
  void check_all_of(FileModel& file, DatasetModel& set);
  /// One rank sleeps, at times.
  void doze();

  // player_metadata.cpp
  void change_attributes();
  void change_links();
  void create_group();

  // player_errors.cpp
  void do_something_wrong();

  FileModel& pick_file() { return *all_.pick(files_); }
  Dice mine() { return Dice(all_.next() ^ (static_cast<std::uint64_t>(run_.rank + 1) * 0x51ED270B0A1u)); }
  std::string new_name(const char* kind) { return kind + std::to_string(names_++); }

  const Run& run_;
  Trace& trace_;
  Dice all_;
  std::vector<std::unique_ptr<FileModel>> files_;
  int names_ = 0;
  Epoch now_ = 1;
};

/// `group` and `name` joined.
std::string path_in(const std::string& group, const std::string& name);

}  // namespace test
