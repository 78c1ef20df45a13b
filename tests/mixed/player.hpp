// Plays a program, or one thread's part of it: several files, open at once through several libraries. What
// happens is drawn from the seed alone, so that each rank keeps the whole model; on a dry run only that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "names.hpp"
#include "open_file.hpp"
#include "plan.hpp"
#include "team.hpp"

namespace mixed {

struct Options {
  std::uint64_t seed = 1;
  int steps = 60;
  bool aloud = false;
  bool plain_names = false;
  bool hints = true;
  bool expect_forebay = false;
  bool threads = false;
  bool mpiio = true;
};

/// The kinds of a seed's files; the number of each is its place in the list.
std::vector<Kind> draw_kinds(const Options& options);

class Player {
 public:
  /// Plays the files of these numbers.
  Player(const Options& options, const World& world, Folders folders, int thread,
         const std::vector<Kind>& kinds, const std::vector<int>& numbers);
  /// Collective over the world, as all below. All files are closed afterwards.
  void play();
  /// The same in parts, of which only that in the middle is for threads: in Open MPI 5.0.7 two threads that
  /// make communicators, of whatever other communicators, wait for ever, and opening a file makes some.
  void open_some();
  void play_steps(int steps);
  void close_some(bool all);
  /// By whoever knows where cells lie; collective.
  void check_closed();
  /// By this process alone, after a dry run.
  void check_by_libraries();

 private:
  struct Pending {
    Array* array;
    Access access;
  };
  struct File {
    int number = 0;
    Kind kind = Kind::tcio;
    Dice dice{0};
    Name name;
    std::vector<std::unique_ptr<Array>> arrays;
    int64_t next_offset = 0;  // raw files
    int64_t size = 0;         // raw files
    int64_t records = 0, agreed_records = 0, pending_records = 0;
    bool created = false, is_open = false, writable = false, independent = false, relative = false;
    std::vector<Pending> pending;
    std::vector<Pending> last_put;  // none or one, since the file was opened
    std::uint32_t epoch = 1;
    Team team;
    std::unique_ptr<OpenFile> file;  // of members, while it is open
    int notes = 0;
    Expected expected() const;
  };

  void one_step();
  void step_of(File& file);
  void open(File& file);
  void create_raw(File& file);
  void close(File& file);
  void put_or_get(File& file, bool writing, bool posted);
  void finish_pending(File& file);
  void meet_fully(File& file);
  void enter_independent(File& file, bool wanted);
  void leave_independent(File& file);
  void define(File& file);
  void remove(File& file);
  void extend(File& file);
  void set_size(File& file);
  void annotate(File& file);
  void doze(File& file);
  void go_elsewhere();
  void make_communicators();

  Array* pick(File& file, bool reading);
  /// What was put last, by the same ranks or by others of them; false where it cannot be read yet.
  static bool read_again(File& file, Array*& array, Access& access);
  static void forget_behind(File& file, int64_t size);
  void grow_records(File& file, int64_t records);
  void say(const File& file, const std::string& what) const;
  template <class Act>
  void with(File& file, Act&& act) {
    if (file.file) act(*file.file);
  }

  Options options_;
  World world_;
  Folders folders_;
  int thread_;
  Dice dice_;
  std::vector<std::unique_ptr<File>> files_;
  std::uint64_t writes_ = 1;
  int step_ = 0;
};

}  // namespace mixed
