#include "player.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "standing.hpp"

namespace mixed {

namespace {

// Raw files: behind the last byte of an access.
int64_t end_of(const Array& array, const Access& access) {
  int64_t end = 0;
  for (const auto& part : access.boxes) {
    for (const Box& box : part) {
      if (box.empty()) continue;
      end =
          std::max(end, array.offset + (static_cast<int64_t>(cells_of(array, box).back()) + 1) * array.bytes);
    }
  }
  return end;
}

}  // namespace

std::vector<Kind> draw_kinds(const Options& options) {
  Dice dice(options.seed ^ 0x6B696E6473u);
  static constexpr std::array kinds{Kind::hdf5, Kind::pnetcdf, Kind::tcio, Kind::boxes, Kind::mpiio};
  std::vector<Kind> drawn;
  const int64_t count = dice.between(1, 7);
  while (static_cast<int64_t>(drawn.size()) < count) {
    const Kind kind = dice.pick(kinds);
    drawn.push_back(kind == Kind::mpiio && !options.mpiio ? Kind::boxes : kind);
  }
  return drawn;
}

Expected Player::File::expected() const {
  return {kind, is_raw(kind) ? size : -1, kind == Kind::pnetcdf ? records : -1};
}

Player::Player(const Options& options, const World& world, Folders folders, int thread,
               const std::vector<Kind>& kinds, const std::vector<int>& numbers)
    : options_(options),
      world_(world),
      folders_(std::move(folders)),
      thread_(thread),
      dice_(options.seed * 31 + static_cast<std::uint64_t>(thread)),
      writes_(options.seed * 1000003 + static_cast<std::uint64_t>(thread) * 100003) {
  for (const int number : numbers) {
    auto file = std::make_unique<File>();
    file->number = number;
    file->kind = kinds[static_cast<std::size_t>(number)];
    file->dice = Dice(options.seed * 131 + static_cast<std::uint64_t>(number) + 1);
    const char* ending = file->kind == Kind::hdf5 ? ".h5" : file->kind == Kind::pnetcdf ? ".nc" : ".raw";
    file->name = Name(file->dice, folders_, number, ending);
    files_.push_back(std::move(file));
  }
}

void Player::play() {
  play_steps(options_.steps);
  close_some(true);
}

void Player::play_steps(int steps) {
  for (; steps > 0; --steps, ++step_) one_step();
}

void Player::open_some() {
  for (const auto& file : files_) {
    if (!file->is_open && !dice_.one_in(4)) open(*file);
  }
}

void Player::close_some(bool all) {
  for (const auto& file : files_) {
    if (file->is_open && (all || dice_.one_in(2))) close(*file);
  }
}

void Player::check_closed() {
  at("checking closed files");
  world_.meet();
  for (const auto& file : files_) {
    if (file->created && file->team.me() == 0) check_bytes(file->name.real(), file->arrays, file->expected());
    if (world_.rank == 0 && file->created) file->name.check_decoys();
  }
}

void Player::check_by_libraries() {
  for (const auto& file : files_) {
    if (!file->created) continue;
    at("checking " + file->name.real());
    if (is_raw(file->kind)) {
      note_raw_places(file->arrays);
      check_bytes(file->name.real(), file->arrays, file->expected());
    } else {
      mixed::check_by_libraries(file->name.real(), file->arrays, file->expected());
    }
  }
}

void Player::say(const File& file, const std::string& what) const {
  const std::string text = "step " + std::to_string(step_) + ", file " + std::to_string(file.number) + " (" +
                           name_of(file.kind) + (file.is_open ? ", " + file.team.text() : "") + "): " + what;
  at(text);
  if (options_.aloud && world_.rank <= 0) std::fprintf(stderr, "thread %d, %s\n", thread_, text.c_str());
}

void Player::one_step() {
  const int64_t kind = dice_.below(40);
  if (kind == 0 && !options_.threads) return go_elsewhere();
  if (kind == 1 && !options_.threads) return make_communicators();
  step_of(*dice_.pick(files_));
}

void Player::go_elsewhere() {
  folders_.go(dice_, !world_.dry());
}

// Some come and go without a file.
void Player::make_communicators() {
  for (int64_t n = dice_.between(1, 6); n > 0; --n) {
    Team team(world_, dice_);
    if (dice_.one_in(2)) team.let_go();
    team.meet();
  }
}

void Player::step_of(File& file) {
  if (!file.is_open && options_.threads) return;
  if (!file.is_open) return open(file);
  struct Choice {
    int weight;
    void (*act)(Player&, File&);
  };
  static constexpr Choice put{8, [](Player& p, File& f) { p.put_or_get(f, true, false); }};
  static constexpr Choice get{6, [](Player& p, File& f) { p.put_or_get(f, false, false); }};
  static constexpr Choice meet{2, [](Player& p, File& f) { p.meet_fully(f); }};
  static constexpr Choice close{1, [](Player& p, File& f) { p.close(f); }};
  static constexpr Choice doze{1, [](Player& p, File& f) { p.doze(f); }};
  static constexpr Choice set_size{1, [](Player& p, File& f) { p.set_size(f); }};
  static constexpr Choice define{1, [](Player& p, File& f) { p.define(f); }};
  static constexpr Choice remove{1, [](Player& p, File& f) { p.remove(f); }};
  static constexpr Choice extend{1, [](Player& p, File& f) { p.extend(f); }};
  static constexpr Choice note{1, [](Player& p, File& f) { p.annotate(f); }};
  static constexpr Choice post_put{5, [](Player& p, File& f) { p.put_or_get(f, true, true); }};
  static constexpr Choice post_get{2, [](Player& p, File& f) { p.put_or_get(f, false, true); }};
  static constexpr Choice wait{2, [](Player& p, File& f) { p.finish_pending(f); }};
  static constexpr Choice independent{1, [](Player& p, File& f) {
                                        if (f.independent) return p.leave_independent(f);
                                        p.enter_independent(f, true);
                                      }};
  std::vector<Choice> choices;
  if (!file.writable) {
    choices = {get, {3, close.act}};
  } else if (file.kind == Kind::hdf5) {
    choices = {put, get, meet, close, doze, define, remove, extend, note};
  } else if (file.kind == Kind::pnetcdf) {
    choices = {put, get, meet, close, doze, define, post_put, post_get, wait};
    if (!file.relative) choices.push_back(independent);
  } else {
    choices = {put, get, meet, close, doze, set_size};
  }
  for (Choice& choice : choices) {
    if (options_.threads && choice.act == close.act) choice = doze;
  }
  int sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  auto drawn = static_cast<int>(file.dice.below(sum));
  for (const Choice& choice : choices) {
    drawn -= choice.weight;
    if (drawn < 0) return choice.act(*this, file);
  }
}

// Raw files have all their arrays from the beginning, some a file that is there already.
void Player::create_raw(File& file) {
  file.next_offset = file.dice.one_in(2) ? 0 : file.dice.below(5000);
  for (int64_t n = file.dice.between(1, 4); n > 0; --n)
    file.arrays.push_back(
        draw_array(file.dice, file.kind, static_cast<int>(file.arrays.size()), file.next_offset));
  const bool there = file.dice.one_in(2);
  const std::uint64_t id = writes_++;
  if (!there) {
    // Forebay promises zeros where nobody wrote.
    for (const auto& array : file.arrays) {
      for (Cell& cell : array->cells) cell.known = file.kind != Kind::mpiio;
    }
    return;
  }
  for (const auto& array : file.arrays) {
    for (std::size_t c = 0; c < array->cells.size(); ++c)
      array->cells[c] = {.value = value_of(id, c, array->bytes), .known = true};
  }
  file.size = file.next_offset;
  if (world_.rank != 0) return;
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size));
  for (const auto& array : file.arrays) {
    for (std::size_t c = 0; c < array->cells.size(); ++c)
      encode(array->cells[c].value, array->bytes, array->big,
             &bytes[static_cast<std::size_t>(array->offset) + c * static_cast<std::size_t>(array->bytes)]);
  }
  std::ofstream(file.name.real(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void Player::open(File& file) {
  const bool create = !file.created;
  if (create && world_.rank == 0) file.name.prepare();
  if (create && is_raw(file.kind)) create_raw(file);
  if (create) world_.meet();
  if (is_raw(file.kind) && !create && file.dice.one_in(2)) {
    static constexpr std::array kinds{Kind::tcio, Kind::boxes, Kind::mpiio};
    file.kind = file.dice.pick(kinds);
  }
  file.writable = create || !file.dice.one_in(4);
  file.team = Team(world_, file.dice);
  // PnetCDF opens its file by name again where independent mode begins, so that it has to stay that file's.
  const bool relative = !options_.threads && (file.kind != Kind::pnetcdf || file.dice.one_in(2));
  Opening opening{.team = file.team,
                  .path = file.name.draw(file.dice, folders_, relative),
                  .create = create,
                  .writable = file.writable,
                  .expect_forebay = options_.expect_forebay,
                  .threads = options_.threads,
                  .hints = draw_hints(file.dice),
                  .way = file.dice.next()};
  file.relative = relative;
  if (!options_.hints) opening.hints.clear();
  file.is_open = true;
  say(file, std::string(create          ? "create "
                        : file.writable ? "open "
                                        : "open to read ") +
                opening.path + ", hints " + opening.hints);
  if (file.team.in()) file.file = open_file(file.kind, opening);
  if (file.dice.one_in(3)) file.team.let_go();
  file.created = true;
  ++file.epoch;
  file.last_put.clear();
  file.independent = false;
  if (create && !is_raw(file.kind)) define(file);
}

void Player::close(File& file) {
  finish_pending(file);
  leave_independent(file);
  say(file, "close");
  with(file, [&](OpenFile& o) { o.close(file.arrays); });
  file.file.reset();
  // A dry run has no say in where things lie.
  file.is_open = false;
  ++file.epoch;
  at("all ranks meet after a close");
  world_.meet();
  if (!file.dice.one_in(2)) return;
  if (file.team.me() == 0) check_bytes(file.name.real(), file.arrays, file.expected());
  world_.meet();
}

Array* Player::pick(File& file, bool reading) {
  std::vector<Array*> some;
  for (const auto& array : file.arrays) {
    const bool empty = array->elements() == 0 && (reading || !(file.kind == Kind::pnetcdf && array->grows));
    const bool unread = reading && file.kind == Kind::pnetcdf && array->grows && file.agreed_records == 0;
    if (!array->gone && !array->busy && !empty && !unread) some.push_back(array.get());
  }
  return some.empty() ? nullptr : file.dice.pick(some);
}

// MPI-IO may leave anything between what it writes behind the end of a file.
void Player::forget_behind(File& file, int64_t size) {
  for (const auto& array : file.arrays) {
    for (std::size_t c = 0; c < array->cells.size(); ++c) {
      if (array->offset + (static_cast<int64_t>(c) + 1) * array->bytes > size) array->cells[c].known = false;
    }
  }
}

void Player::grow_records(File& file, int64_t records) {
  if (records <= file.records) return;
  file.records = records;
  for (const auto& array : file.arrays) {
    if (array->grows) array->set_extent(records);
  }
}

bool Player::read_again(File& file, Array*& array, Access& access) {
  if (file.last_put.empty() || file.last_put[0].array->busy || file.last_put[0].array->gone) return false;
  Array* const again = file.last_put[0].array;
  std::vector<std::vector<Box>> boxes = file.last_put[0].access.boxes;
  const int64_t rows = file.kind == Kind::pnetcdf && again->grows ? file.agreed_records : again->shape[0];
  for (const auto& part : boxes) {
    for (const Box& box : part) {
      if (rows == 0 || box.start[0] + (box.count[0] - 1) * box.stride[0] >= rows) return false;
    }
  }
  if (file.dice.one_in(2)) std::rotate(boxes.begin(), boxes.begin() + 1, boxes.end());
  access.boxes = std::move(boxes);
  array = again;
  return true;
}

void Player::put_or_get(File& file, bool writing, bool posted) {
  Array* array = pick(file, !writing);
  if (array == nullptr) return;
  bool together = file.dice.one_in(2);
  if (file.kind == Kind::pnetcdf) together = !file.independent;
  if (file.kind == Kind::tcio && writing) together = false;
  int64_t rows = array->shape[0];
  if (file.kind == Kind::pnetcdf && array->grows) {
    rows = file.agreed_records;
    if (writing && array->elements() < 20000)
      rows = std::max(file.records, file.pending_records) + file.dice.below(4);
    if (writing && rows == 0) rows = 1;
    if (writing && rows > file.records) {  // the model's cells are there at once, the records with the call
      const int64_t records = file.records;
      grow_records(file, rows);
      file.records = records;
    }
    // In an independent call, or one that is only posted, a record may be counted that nobody has written
    // yet.
  }
  Access access = draw_access(file.dice, *array, rows, file.team.size(), writing, together);
  if (!writing && file.dice.one_in(3)) read_again(file, array, access);
  // What MPI-IO reads behind the end of a file is left as it was.
  if (file.kind == Kind::mpiio && !writing && end_of(*array, access) > file.size) return;
  const std::uint64_t id = writing ? writes_++ : 0;
  const std::uint64_t way = file.dice.next() >> 1;
  const Meeting meeting = needed(*array, access, file.epoch);
  if (meeting == Meeting::full) {
    meet_fully(file);
    enter_independent(file, file.kind == Kind::pnetcdf && !together);
  } else if (meeting == Meeting::light) {
    at("ranks meet between collective calls");
    file.team.meet();
    for (const auto& other : file.arrays) note_light_meeting(*other, file.epoch);
  }
  std::size_t boxes = 0;
  for (const auto& part : access.boxes) boxes += part.size();
  say(file, std::string(posted ? "post " : "") + (writing ? "put" : "get") +
                (together ? " together, " : " alone, ") + array->name + ", " + std::to_string(boxes) +
                " boxes");
  if (writing) {
    with(file,
         [&](OpenFile& o) { posted ? o.post_put(*array, access, id, way) : o.put(*array, access, id, way); });
  } else {
    with(file, [&](OpenFile& o) { posted ? o.post_get(*array, access, way) : o.get(*array, access, way); });
  }
  if (writing) file.last_put.assign(1, {array, access});
  if (posted) {
    array->busy = true;
    file.pending.push_back({array, access});
  } else {
    note(*array, access, file.epoch);
  }
  if (!writing) return;
  if (file.kind == Kind::mpiio) forget_behind(file, file.size);
  set_values(*array, access, id);
  if (is_raw(file.kind)) file.size = std::max(file.size, end_of(*array, access));
  int64_t end = 0;
  for (const auto& part : access.boxes) {
    for (const Box& box : part) {
      if (box.empty()) continue;
      if (file.kind == Kind::pnetcdf && array->grows) end = std::max(end, box.start[0] + box.count[0]);
    }
  }
  if (end == 0) return;
  file.pending_records = std::max(file.pending_records, end);
  if (posted) return;
  grow_records(file, std::max(file.records, end));
  if (together) file.agreed_records = file.records;
}

void Player::finish_pending(File& file) {
  if (file.kind != Kind::pnetcdf) return;
  const std::uint64_t way = file.dice.next() >> 1;
  if (file.pending.empty()) return;
  say(file, file.independent ? "wait" : "wait_all");
  with(file, [&](OpenFile& o) { o.wait(!file.independent, way); });
  for (Pending& pending : file.pending) {  // now they happen
    pending.array->busy = false;
    pending.access.together = !file.independent;
    note(*pending.array, pending.access, file.epoch);
  }
  file.pending.clear();
  grow_records(file, std::max(file.records, file.pending_records));
  if (!file.independent) file.agreed_records = file.records;
}

void Player::enter_independent(File& file, bool wanted) {
  if (!wanted || file.independent) return;
  say(file, "begin independent mode");
  with(file, [](OpenFile& o) { o.set_independent(true); });
  file.independent = true;
}

void Player::leave_independent(File& file) {
  if (!file.independent) return;
  say(file, "end independent mode");
  with(file, [&](OpenFile& o) { o.set_independent(false); });
  file.independent = false;
  file.agreed_records = file.records;
  ++file.epoch;
  with(file, [&](OpenFile& o) { o.check_size(file.records); });
}

void Player::meet_fully(File& file) {
  const std::uint64_t way = file.dice.next() >> 1;
  const bool was_independent = file.independent;
  leave_independent(file);
  say(file, "flush or sync");
  with(file, [&](OpenFile& o) { o.meet(way); });
  ++file.epoch;
  file.agreed_records = file.records;
  with(file, [&](OpenFile& o) {
    if (is_raw(file.kind)) o.check_size(file.size);
    if (file.kind == Kind::pnetcdf) o.check_size(file.records);
  });
  enter_independent(file, was_independent && file.dice.one_in(2));
}

void Player::define(File& file) {
  if (file.arrays.size() > 12) return;
  finish_pending(file);
  leave_independent(file);
  std::vector<Array*> fresh;
  for (int64_t n = file.dice.between(1, 3); n > 0; --n) {
    file.arrays.push_back(
        draw_array(file.dice, file.kind, static_cast<int>(file.arrays.size()), file.next_offset));
    fresh.push_back(file.arrays.back().get());
    if (file.kind == Kind::pnetcdf && fresh.back()->grows) fresh.back()->set_extent(file.records);
  }
  const std::uint64_t way = file.dice.next() >> 1;
  say(file, "define " + std::to_string(fresh.size()) + " arrays");
  with(file, [&](OpenFile& o) { o.define(fresh, way); });
}

void Player::remove(File& file) {
  Array* array = pick(file, true);
  if (array == nullptr) return;
  say(file, "remove " + array->name);
  with(file, [&](OpenFile& o) { o.remove(*array); });
  array->gone = true;
}

void Player::extend(File& file) {
  std::vector<Array*> some;
  for (const auto& array : file.arrays) {
    if (array->grows && !array->gone && array->elements() < 20000) some.push_back(array.get());
  }
  if (some.empty()) return;
  Array* array = file.dice.pick(some);
  meet_fully(file);
  const int64_t first = file.dice.one_in(4) ? file.dice.between(1, array->shape[0])
                                            : array->shape[0] + file.dice.between(1, 12);
  say(file,
      "extend " + array->name + " from " + std::to_string(array->shape[0]) + " to " + std::to_string(first));
  with(file, [&](OpenFile& o) { o.extend(*array, first); });
  array->set_extent(first);
}

void Player::set_size(File& file) {
  meet_fully(file);
  const int64_t size = file.dice.below(file.next_offset + file.next_offset / 4 + 10);
  say(file, "set size " + std::to_string(size));
  with(file, [&](OpenFile& o) { o.set_size(size); });
  for (const auto& array : file.arrays) {
    for (std::size_t c = 0; c < array->cells.size(); ++c) {
      const int64_t first = array->offset + static_cast<int64_t>(c) * array->bytes;
      if (first + array->bytes <= size) continue;
      Cell& cell = array->cells[c];
      if (first < size) {  // cut through the middle
        std::byte element[8];
        encode(cell.value, array->bytes, array->big, element);
        for (int64_t b = size - first; b < array->bytes; ++b) element[b] = std::byte{0};
        cell.value = decode(element, array->bytes, array->big);
      } else {
        cell.value = 0;
        cell.known = file.kind != Kind::mpiio;
      }
    }
  }
  file.size = size;
}

void Player::annotate(File& file) {
  const int value = static_cast<int>(file.dice.below(1000000));
  say(file, "an attribute");
  with(file, [&](OpenFile& o) { o.annotate(file.notes, value); });
  ++file.notes;
}

// One rank is late.
void Player::doze(File& file) {
  const auto who = static_cast<int>(file.dice.below(world_.ranks));
  const auto microseconds = static_cast<unsigned>(file.dice.below(8000));
  if (who == world_.rank) ::usleep(microseconds);
}

}  // namespace mixed
