// Reads and writes, of one dataset or of several in one call.
#include <algorithm>
#include <array>
#include <cstring>

#include "player.hpp"

namespace test {
namespace {

/// One dataset's part of a call on this rank.
struct Part {
  const ElementType* type = nullptr;
  Id space;
  Memory memory;
  std::vector<std::byte> before;
};

/// What remains where no element is.
void blank(const Part& part, std::vector<std::byte>& bytes) {
  for (std::size_t place : part.memory.places)
    std::memset(bytes.data() + place * part.type->size, 0, part.type->size);
}

std::string name_of(const Plan& plan) {
  constexpr std::array names{"slabs", "cyclic", "blocks", "points", "unions", "same", "one"};
  std::string name = plan.whole ? "whole" : names[static_cast<std::size_t>(plan.style)];
  return plan.idle != 0 && !plan.whole ? name + "-idle" : name;
}

/// What HDF5 says of the call that failed last, where it began.
std::string deepest_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* error, void* data) -> herr_t {
        if (n == 0) *static_cast<std::string*>(data) = std::string(error->func_name) + ": " + error->desc;
        return 0;
      },
      &text);
  return text;
}

std::int64_t value_at(std::uint64_t index, std::uint64_t salt, int bits) {
  return value_of(index, static_cast<unsigned>(salt)) & ((std::int64_t{1} << bits) - 1);
}

}  // namespace

Player::Transfer Player::draw_transfer(Moves moves, bool may_be_individual, bool several) {
  Transfer how;
  how.collective = moves == Moves::together || (moves == Moves::either && all_.one_in(2));
  how.list = transfer(how.collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  how.text = how.collective ? "collective" : "independent";
  if (how.collective) {
    // Filtered chunks cannot be written individually, and HDF5 may wait for ever where ranks with nothing
    // read them so.
    if (may_be_individual && all_.one_in(3)) {
      H5Pset_dxpl_mpio_collective_opt(how.list, H5FD_MPIO_INDIVIDUAL_IO);
      how.text += " individual";
    }
    constexpr std::array options{H5FD_MPIO_CHUNK_DEFAULT, H5FD_MPIO_CHUNK_ONE_IO, H5FD_MPIO_CHUNK_MULTI_IO};
    const H5FD_mpio_chunk_opt_t option = all_.pick(options);
    H5Pset_dxpl_mpio_chunk_opt(how.list, option);
    how.text += option == H5FD_MPIO_CHUNK_ONE_IO     ? " linked"
                : option == H5FD_MPIO_CHUNK_MULTI_IO ? " by-chunk"
                                                     : "";
  }
  constexpr std::array modes{H5D_SELECTION_IO_MODE_DEFAULT, H5D_SELECTION_IO_MODE_DEFAULT,
                             H5D_SELECTION_IO_MODE_OFF, H5D_SELECTION_IO_MODE_ON};
  const H5D_selection_io_mode_t mode = all_.pick(modes);
  H5Pset_selection_io(how.list, mode);
  how.text += mode == H5D_SELECTION_IO_MODE_OFF  ? " scalar"
              : mode == H5D_SELECTION_IO_MODE_ON ? " selection"
                                                 : "";
  if (all_.one_in(5) && !several) {  // reading several so, HDF5 frees what it did not allocate
    H5Pset_buffer(how.list, static_cast<size_t>(all_.between(64, 2000)), nullptr, nullptr);
    how.text += " small-buffer";
  }
  how.may_change_buffer = all_.one_in(3);
  if (how.may_change_buffer) H5Pset_modify_write_buf(how.list, true);
  return how;
}

void Player::meet(FileModel& file) {
  const bool flushes = all_.one_in(3);
  for (const auto& each : files_) {
    const bool wanted = always_flushes || (flushes && each.get() == &file);
    if (each->id >= 0 && wanted) trace_.sign("flush", H5Fflush(each->id, H5F_SCOPE_LOCAL));
  }
  MPI_Barrier(run_.comm);
  ++now_;
}

void Player::meet_if_touched(FileModel& file, const DatasetModel& set) {
  if (touched(set, now_)) meet(file);
}

void Player::move(bool writing, bool several) {
  FileModel& file = pick_file();
  if (file.sets.empty()) return;
  std::vector<DatasetModel*> sets;
  for (std::int64_t n = several ? all_.between(2, 5) : 1; n > 0; --n) {
    DatasetModel* set = pick_set(file);
    if (several && set->filtered) continue;  // HDF5 loses parts of what is written so
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  }
  if (sets.empty()) return;
  std::vector<Plan> plans;
  plans.reserve(sets.size());
  for (DatasetModel* set : sets) plans.push_back(draw_plan(all_, *set, run_.ranks, writing));
  const bool together =
      std::any_of(sets.begin(), sets.end(), [](const DatasetModel* s) { return s->together(); });
  move(file, sets, plans, writing,
       draw_transfer(together_if(file.collective_metadata || (writing && together)), !together,
                     sets.size() > 1));
  for (DatasetModel* set : sets) {
    if (all_.one_in(5)) let_go(*set);
  }
}

void Player::move(FileModel& file, const std::vector<DatasetModel*>& sets, const std::vector<Plan>& plans,
                  bool writing, const Transfer& how) {
  const auto me = static_cast<std::size_t>(run_.rank);
  const std::uint64_t salt = all_.next();
  const auto choices = memory_types();
  const bool as_in_file =
      writing && std::any_of(sets.begin(), sets.end(), [](const DatasetModel* d) { return d->filtered; });
  Dice dice = mine();
  std::vector<Part> parts;
  std::vector<std::vector<std::vector<std::uint64_t>>> at(sets.size());  // by dataset and rank
  std::vector<int> bits;
  bool meeting = false;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    DatasetModel& set = *sets[s];
    Plan plan = plans[s];
    // MPI has no view in which a place comes twice; what HDF5 makes of it depends on the transfer's other
    // settings.
    if (how.collective) plan.repeated = false;
    Part part;
    do {
      part.type = &all_.pick(choices);
    } while (!writing && part.type->bits < set.type->bits);
    // Conversion may end the collective transfer, and only that can write filtered chunks.
    if (as_in_file) part.type = set.type;
    bits.push_back(std::min(part.type->bits, set.type->bits));
    for (int r = 0; r < run_.ranks; ++r) {
      Id space = select(plan, set, r, run_.ranks);
      at[s].push_back(selected(space));
      meeting = meeting || conflicts(set, at[s].back(), r, writing, now_);
      if (r == run_.rank) part.space = std::move(space);
    }
    const std::vector<std::uint64_t>& mine_at = at[s][me];
    part.memory = draw_memory(dice, *part.type, mine_at.size());
    for (std::size_t i = 0; writing && i < mine_at.size(); ++i)
      store(*part.type, part.memory.bytes.data() + part.memory.places[i] * part.type->size,
            value_at(mine_at[i], salt, bits[s]));
    part.before = part.memory.bytes;
    parts.push_back(std::move(part));
  }
  // HDF5 waits for ever where some ranks take nothing in a collective read of filtered chunks.
  const auto idle = [](const auto& of_ranks) {
    return std::any_of(of_ranks.begin(), of_ranks.end(), [](const auto& indices) { return indices.empty(); });
  };
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (!writing && how.collective && sets[s]->filtered && idle(at[s])) return;
  }
  if (meeting) meet(file);

  std::vector<hid_t> ids, types, memories, spaces;
  std::vector<void*> buffers;
  std::string text = how.text + (writing ? " write" : " read");
  bool nothing = true;
  bool failed = false;
  bool all_known = true;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    ids.push_back(handle(file, *sets[s]));
    types.push_back(parts[s].type->id());
    memories.push_back(parts[s].memory.space);
    spaces.push_back(parts[s].space);
    buffers.push_back(parts[s].memory.bytes.data());
    text += " " + sets[s]->paths.back() + " " + name_of(plans[s]) + " as " + parts[s].type->name;
    nothing = nothing && at[s][me].empty();
    for (std::uint64_t i : at[s][me]) all_known = all_known && sets[s]->elements[i].known;
  }
  if (!how.collective && nothing && dice.one_in(2)) {
    trace_.value("left out", text);
  } else {
    const std::vector<const void*> sources(buffers.begin(), buffers.end());
    trace_.about_to(text);
    herr_t result = 0;
    if (sets.size() == 1) {
      result = writing ? H5Dwrite(ids[0], types[0], memories[0], spaces[0], how.list, buffers[0])
                       : H5Dread(ids[0], types[0], memories[0], spaces[0], how.list, buffers[0]);
    } else {
      result = writing ? H5Dwrite_multi(sets.size(), ids.data(), types.data(), memories.data(), spaces.data(),
                                        how.list, const_cast<const void**>(sources.data()))
                       : H5Dread_multi(sets.size(), ids.data(), types.data(), memories.data(), spaces.data(),
                                       how.list, buffers.data());
    }
    if (trace_.sign(text, result) < 0) {
      // Not a mistake of the program: those are in do_something_wrong.
      if (writing || all_known) trace_.wrong(text + " fails: " + deepest_error());
      failed = true;
    }
  }

  for (std::size_t s = 0; s < sets.size(); ++s) {
    DatasetModel& set = *sets[s];
    Part& part = parts[s];
    for (int r = 0; r < run_.ranks; ++r) {
      const auto& indices = at[s][static_cast<std::size_t>(r)];
      writing ? note_write(set, indices, r, now_) : note_read(set, indices, r, now_);
      for (std::uint64_t i : indices) {
        if (!writing) continue;
        set.elements[i].value = value_at(i, salt, bits[s]);
        set.elements[i].known = true;
      }
    }
    if (writing) {
      if (!how.may_change_buffer && part.before != part.memory.bytes)
        trace_.wrong("a write changes its buffer");
      continue;
    }
    std::vector<std::int64_t> values;
    std::size_t other = 0;
    std::string example;
    for (std::size_t i = 0; i < at[s][me].size(); ++i) {
      const Element& element = set.elements[at[s][me][i]];
      if (!element.known || failed) continue;
      values.push_back(load(*part.type, part.memory.bytes.data() + part.memory.places[i] * part.type->size));
      if (values.back() == element.value) continue;
      if (other++ == 0)
        example = "element " + std::to_string(at[s][me][i]) + " is " + std::to_string(values.back()) +
                  ", not " + std::to_string(element.value);
    }
    trace_.value("read", hash_of(values));
    if (other > 0) {
      trace_.wrong(std::to_string(other) + " of " + std::to_string(values.size()) + " elements of " +
                   set.paths.back() + " are not what was written: " + example);
    }
    blank(part, part.before);
    blank(part, part.memory.bytes);
    if (part.before != part.memory.bytes) trace_.wrong("a read changes memory beside its selection");
    // What a read left in the chunk cache, HDF5 does not renew when filtered chunks are written together.
    if (set.filtered) let_go(set);
  }
}

}  // namespace test
