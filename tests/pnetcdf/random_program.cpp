// Random PnetCDF programs, the same on PnetCDF's own driver and on Forebay's: `--seed N --count K [--steps
// S] [--mib M]`. A failing program is told by its seed.
//
// What a program does is drawn from the seed alone, the same on all ranks; what a rank contributes, from seed
// and rank. Ranks never write the same element in one call, and puts of one wait never overlap, since PnetCDF
// leaves the outcome open; for the same reason a rank gets in a wait only what no other rank puts there.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "../dice.hpp"
#include "calls.hpp"
#include "harness.hpp"
#include "random_calls.hpp"

namespace forebay::test {
namespace {

struct Var {
  int id;
  nc_type type;
  std::vector<int> dims;          // ids
  std::vector<MPI_Offset> shape;  // [0] is 0 for a record variable
  bool is_record = false;
};

class Player {
 public:
  Player(Run& run, std::uint64_t seed, int steps, MPI_Offset most_bytes)
      : run_(run), all_(seed), seed_(seed), steps_(steps), most_bytes_(most_bytes) {}

  void play() {
    format_ = std::vector<int>{1, 2, 5}[static_cast<std::size_t>(all_.below(3))];
    MPI_Info info;
    MPI_Info_create(&info);
    if (all_.one_in(4)) MPI_Info_set(info, "nc_in_place_swap", all_.one_in(2) ? "enable" : "disable");
    if (all_.one_in(4)) MPI_Info_set(info, "nc_var_align_size", "64");
    run_.code("create", ncmpi_create(run_.comm(), run_.path().c_str(), mode(), info, &file_));
    MPI_Info_free(&info);
    if (all_.one_in(4)) run_.code("fill", ncmpi_set_fill(file_, NC_FILL, nullptr));
    define(1 + static_cast<int>(all_.below(5)));
    if (all_.one_in(2)) post_group();
    run_.code("enddef", ncmpi_enddef(file_));
    run_.expect_driver(file_);
    run_.code("attach", ncmpi_buffer_attach(file_, attached_bytes));
    for (int step = 0; step < steps_; ++step) {
      run_.value("step", step);
      one_step();
      records();
    }
    finish_pending();
    run_.code("detach", ncmpi_buffer_detach(file_));
    read_back();
    sizes();
    run_.code("close", ncmpi_close(file_));
  }

 private:
  static constexpr MPI_Offset attached_bytes = 200000;
  static constexpr int slots = 4;  // requests of a rank in one wait

  int mode() const {
    return NC_CLOBBER | (format_ == 5 ? NC_64BIT_DATA : format_ == 2 ? NC_64BIT_OFFSET : 0);
  }

  Dice mine() { return Dice(all_.next() ^ (static_cast<std::uint64_t>(run_.rank() + 1) * 0x51ED270B0A1u)); }

  void define(int count) {
    if (dims_.empty()) {
      add_dim(NC_UNLIMITED);
      for (int i = 0; i < 4; ++i) add_dim(1 + all_.below(i == 0 ? 400 : 40));
    }
    for (int i = 0; i < count; ++i) {
      const std::vector<nc_type> types = external_types(format_);
      Var v;
      v.type = types[static_cast<std::size_t>(all_.below(static_cast<std::int64_t>(types.size())))];
      v.is_record = all_.one_in(2);
      if (v.is_record) v.dims.push_back(0);
      for (std::int64_t d = all_.below(4); d > 0; --d) v.dims.push_back(1 + static_cast<int>(all_.below(4)));
      while (v.dims.size() > (v.is_record ? 1 : 0) && !fits(v)) v.dims.pop_back();
      (v.is_record ? record_bytes_ : fixed_bytes_) += bytes_of(v);
      for (int d : v.dims) v.shape.push_back(dims_[static_cast<std::size_t>(d)]);
      const std::string name = "v" + std::to_string(vars_.size());
      run_.code("def_var", ncmpi_def_var(file_, name.c_str(), v.type, static_cast<int>(v.dims.size()),
                                         v.dims.data(), &v.id));
      if (all_.one_in(4) && v.type != NC_CHAR) {
        const int fill = 42;
        run_.code("fill value", ncmpi_put_att_int(file_, v.id, "_FillValue", v.type, 1, &fill));
      }
      vars_.push_back(v);
    }
  }

  void add_dim(MPI_Offset size) {
    int id = -1;
    run_.code("def_dim", ncmpi_def_dim(file_, ("d" + std::to_string(dims_.size())).c_str(), size, &id));
    dims_.push_back(size == NC_UNLIMITED ? 0 : size);
  }

  // Of the whole variable, or of one record.
  MPI_Offset bytes_of(const Var& v) const {
    auto bytes = static_cast<MPI_Offset>(size_of(memory_of(v.type)));
    for (std::size_t d = v.is_record ? 1 : 0; d < v.dims.size(); ++d)
      bytes *= dims_[static_cast<std::size_t>(v.dims[d])];
    return bytes;
  }

  // As many records as one call can add at most. Where it would not fit, calls stay within what is there.
  MPI_Offset more_records() const { return 2 * static_cast<MPI_Offset>(run_.ranks()) * slots + 1; }
  bool may_grow(MPI_Offset known) const {
    return fixed_bytes_ + (known + more_records()) * record_bytes_ <= most_bytes_;
  }
  bool fits(const Var& v) {
    const MPI_Offset fixed = fixed_bytes_ + (v.is_record ? 0 : bytes_of(v));
    const MPI_Offset record = record_bytes_ + (v.is_record ? bytes_of(v) : 0);
    return fixed + (records() + more_records()) * record <= most_bytes_;
  }

  MPI_Offset records() {
    MPI_Offset n = -1;
    ncmpi_inq_dimlen(file_, 0, &n);
    run_.value("records", n);
    return n;
  }

  void sizes() {
    MPI_Offset put = -1, get = -1;
    int pending = -1;
    ncmpi_inq_put_size(file_, &put);
    ncmpi_inq_get_size(file_, &get);
    ncmpi_inq_nreqs(file_, &pending);
    if (!is_pnetcdf_1_15()) run_.value("put_size", put);
    if (!is_pnetcdf_1_15()) run_.value("get_size", get);
    run_.value("nreqs", pending);
  }

  // Chooses this rank's part of the variable: slot `slot` of this rank along the longest dimension (or among
  // the records). `lists`: with varn, or with anything else; in one collective call PnetCDF wants the same of
  // all ranks.
  Call draw(Dice& dice, const Var& v, int slot, MPI_Offset known_records, bool lists, bool growing = true) {
    const MPI_Offset part = static_cast<MPI_Offset>(run_.rank()) * slots + slot;
    return draw_part(dice, v, part, static_cast<MPI_Offset>(run_.ranks()) * slots, known_records, lists,
                     growing);
  }

  // Part `part` of `parts`.
  Call draw_part(Dice& dice, const Var& v, MPI_Offset part, MPI_Offset parts, MPI_Offset known_records,
                 bool lists, bool growing) {
    growing = growing && (known_records == 0 || may_grow(known_records));
    Call call;
    call.variable = v.id;
    call.type = v.type;
    call.memory = v.type == NC_CHAR ? text : static_cast<Memory>(1 + dice.below(memory_types - 1));
    if (dice.one_in(2)) call.memory = memory_of(v.type);
    const std::size_t dims = v.dims.size();
    std::size_t split = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      if (v.shape[d] > v.shape[split]) split = d;
    }
    std::vector<MPI_Offset> low(dims, 0), high = v.shape;
    if (v.is_record && dims == 1) {
      low[0] = growing ? known_records - known_records % 2 + part * 2 : known_records * part / parts;
      high[0] = growing ? low[0] + 2 : known_records * (part + 1) / parts;
    } else {
      low[split] = v.shape[split] * part / parts;
      high[split] = v.shape[split] * (part + 1) / parts;
      if (v.is_record) {
        low[0] = dice.below(known_records + 3);
        high[0] = low[0] + 1 + dice.below(3);
        if (!growing)
          low[0] = std::min(low[0], known_records - 1), high[0] = std::min(high[0], known_records);
      }
    }
    draw_shape(dice, call, low, high, v.is_record, lists);
    draw_face(dice, call);
    return call;
  }

  void put_collectively(bool blocking_varn) {
    const Var& v = all_.pick(vars_);
    if (v.dims.empty()) return put_scalar(v);
    const MPI_Offset known = records();
    // With puts pending, PnetCDF's blocking varn of nothing waits for one of them.
    const bool lists = blocking_varn && all_.one_in(3);
    Dice dice = mine();
    Call call = draw(dice, v, static_cast<int>(dice.below(slots)), known, lists);
    call.method = Method::collective;
    run_.code(std::string("put_all ") + name_of(call.shape), perform(file_, call));
    run_.value("untouched", call.buffer == call.before);
  }

  // All ranks put the same.
  void put_scalar(const Var& v) {
    Call call;
    call.shape = Shape::var;
    call.variable = v.id;
    call.type = v.type;
    call.memory = memory_of(v.type);
    call.elements = 1;
    fill_buffer(call, all_.next(), false);
    call.method = Method::collective;
    run_.code("put_all scalar", perform(file_, call));
  }

  void put_whole() {
    const Var& v = all_.pick(vars_);
    Call call;
    call.shape = Shape::var;
    call.variable = v.id;
    call.type = v.type;
    call.memory = memory_of(v.type);
    call.elements = 1;
    for (std::size_t d = 0; d < v.dims.size(); ++d)
      call.elements *= v.is_record && d == 0 ? records() : v.shape[d];
    if (call.elements > 20000) return;
    fill_buffer(call, all_.next(), false);
    run_.code("put_var_all", perform(file_, call));
  }

  // A get of anything that is there.
  Call draw_get(Dice& dice, const Var& v, bool lists) {
    const MPI_Offset parts = 1 + dice.below(3);
    return draw_part(dice, v, dice.below(parts), parts, records(), lists, false);
  }
  bool has_something(const Var& v) { return !v.dims.empty() && (!v.is_record || records() > 0); }

  void log_got(const Call& call) {
    run_.value(std::string("got ") + name_of(call.memory), hash_of(call.buffer.data(), call.buffer.size()));
  }

  // After what was put by all ranks, so that PnetCDF's own driver has it in the file, too.
  void get_collectively() {
    put_last_elements(run_, file_);
    MPI_Barrier(run_.comm());
    for (std::int64_t n = 1 + all_.below(3); n > 0; --n) {
      const Var& v = all_.pick(vars_);
      // With gets pending, PnetCDF's blocking varn of nothing waits for one of them.
      const bool lists = busy_.empty() && all_.one_in(3);
      if (!has_something(v)) continue;
      Dice dice = mine();
      Call call = draw_get(dice, v, lists);
      call.method = Method::get_all;
      run_.code(std::string("get_all ") + name_of(call.shape), perform(file_, call));
      log_got(call);
    }
  }

  // Posts gets of variables that no put is pending for, to be waited for with the puts.
  void post_gets() {
    Dice dice = mine();
    const Var v = all_.pick(vars_);
    if (!has_something(v) || std::count(busy_.begin(), busy_.end(), v.id) > 0) return;
    put_last_elements(run_, file_);
    MPI_Barrier(run_.comm());
    // PnetCDF fills only one of two buffers where gets of one wait overlap.
    const MPI_Offset parts = 1 + dice.below(3);
    for (MPI_Offset part = 0; part < parts; ++part) {
      Call call = draw_part(dice, v, part, parts, records(), dice.one_in(3), false);
      call.method = Method::iget;
      pending_.push_back(std::make_unique<Call>(std::move(call)));
      Call& kept = *pending_.back();
      run_.code(std::string("iget ") + name_of(kept.shape), perform(file_, kept));
      run_.value("request", kept.request);
    }
    busy_.push_back(v.id);
  }

  // Only to be read, by some of the ranks.
  void read_elsewhere() {
    close_after_all();
    const int some = 1 + static_cast<int>(all_.below(run_.ranks()));
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(run_.comm(), run_.rank() < some ? 0 : MPI_UNDEFINED, 0, &part);
    Dice dice = mine();
    std::vector<std::pair<int, bool>> reads;
    for (std::int64_t n = all_.below(6); n > 0; --n)
      reads.emplace_back(static_cast<int>(all_.below(static_cast<std::int64_t>(vars_.size()))),
                         all_.one_in(3));
    if (part != MPI_COMM_NULL) {
      run_.code("open to read", ncmpi_open(part, run_.path().c_str(), NC_NOWRITE, MPI_INFO_NULL, &file_));
      run_.expect_driver(file_);
      for (const auto& [place, lists] : reads) {
        const Var& v = vars_[static_cast<std::size_t>(place)];
        if (!has_something(v)) continue;
        Call call = draw_get(dice, v, lists);
        call.method = Method::get_all;
        run_.code(std::string("get_all elsewhere ") + name_of(call.shape), perform(file_, call));
        log_got(call);
      }
      sizes();
      run_.code("sync", ncmpi_sync(file_));
      run_.code("close", ncmpi_close(file_));
      MPI_Comm_free(&part);
    }
    MPI_Barrier(run_.comm());
    open_again();
  }

  void post_group() {
    const int most =
        slots - static_cast<int>(std::count_if(pending_.begin(), pending_.end(), [](const auto& call) {
          return call->method != Method::iget;
        }));
    Dice dice = mine();
    const Var v = all_.pick(vars_);
    if (v.dims.empty() || std::count(busy_.begin(), busy_.end(), v.id) > 0) return;
    busy_.push_back(v.id);
    const MPI_Offset known = records();
    for (int slot = 0; slot < most; ++slot) {
      if (dice.one_in(4)) continue;
      Call call = draw(dice, v, slot, known, dice.one_in(3));
      call.method = dice.one_in(2) ? Method::bput : Method::iput;
      if (!attached_) call.method = Method::iput;
      pending_.push_back(std::make_unique<Call>(std::move(call)));
      Call& kept = *pending_.back();
      run_.code(std::string(name_of(kept.method)) + " " + name_of(kept.shape), perform(file_, kept));
      run_.value("request", kept.request);
    }
  }

  void finish_pending() {
    if (busy_.empty()) return;
    std::vector<int> ids, statuses;
    for (const auto& call : pending_) ids.push_back(call->request);
    if (all_.one_in(3)) std::reverse(ids.begin(), ids.end());
    statuses.resize(ids.size(), -1);
    int err = NC_NOERR;
    if (all_.one_in(2)) {
      err = run_.code("wait_all", ncmpi_wait_all(file_, static_cast<int>(ids.size()), ids.data(),
                                                 all_.one_in(2) ? statuses.data() : nullptr));
    } else {
      const bool at_once = all_.one_in(2);
      err = run_.code("wait_all all",
                      ncmpi_wait_all(file_, at_once ? NC_REQ_ALL : NC_PUT_REQ_ALL, nullptr, nullptr));
      if (!at_once) run_.code("wait_all gets", ncmpi_wait_all(file_, NC_GET_REQ_ALL, nullptr, nullptr));
    }
    if (err == NC_ERANGE) err = NC_NOERR;  // of a get, which is done all the same
    int left = 0;
    ncmpi_inq_nreqs(file_, &left);
    if (err == NC_NOERR && left != 0) run_.defect("a wait for all requests left some");
    for (int id : ids) run_.value("id", id);
    // Of a list that names all that is pending, PnetCDF does not look which get is out of range.
    std::sort(statuses.begin(), statuses.end());
    for (int status : statuses) run_.value("status", status);
    for (const auto& call : pending_) {
      if (call->method == Method::iget) {
        log_got(*call);
      } else if (call->buffer != call->before) {
        run_.value("touched", call->variable);
      }
    }
    // A wait that fails may leave requests posted, and closing then swaps bytes in their buffers.
    if (err != NC_NOERR) std::move(pending_.begin(), pending_.end(), std::back_inserter(unfinished_));
    pending_.clear();
    busy_.clear();
  }

  void cancel_some() {
    std::vector<std::unique_ptr<Call>> left;
    Dice dice = mine();
    for (auto& call : pending_) {
      if (dice.one_in(3)) {
        run_.code("cancel", ncmpi_cancel(file_, 1, &call->request, nullptr));
      } else {
        left.push_back(std::move(call));
      }
    }
    pending_ = std::move(left);
    run_.value("left", pending_.size());
  }

  // One rank at a time, within what is there: MPI-IO may read, change and write back what lies between
  // independent pieces, and gets it wrong behind the end of the file.
  void independent_section() {
    put_last_elements(run_, file_);
    run_.code("begin_indep", ncmpi_begin_indep_data(file_));
    Dice dice = mine();
    const Var& v = all_.pick(vars_);
    const MPI_Offset known = records();
    for (int turn = 0; turn < run_.ranks() && !v.dims.empty() && (!v.is_record || known > 0); ++turn) {
      MPI_Barrier(run_.comm());
      if (turn != run_.rank()) continue;
      for (std::int64_t n = dice.below(3); n > 0; --n) {
        Call call = draw(dice, v, static_cast<int>(n), known, dice.one_in(3), false);
        // PnetCDF's blocking varn of nothing finishes another request, where exactly one is pending.
        if (call.shape == Shape::varn && call.elements == 0) continue;
        call.method = dice.one_in(2) ? Method::independent : dice.one_in(2) ? Method::iput : Method::bput;
        // Of what this rank alone puts here.
        if (dice.one_in(2)) call.method = dice.one_in(2) ? Method::get : Method::iget;
        // PnetCDF leaves an independent varn undone when a value is out of range.
        if (call.method == Method::independent && call.shape == Shape::varn)
          fill_buffer(call, dice.next(), false);
        run_.code(std::string(name_of(call.method)) + " " + name_of(call.shape), perform(file_, call));
        if (call.method != Method::independent && call.method != Method::get) {
          int status = -1;
          run_.code("wait", ncmpi_wait(file_, 1, &call.request, &status));
          run_.value("status", status);
        }
        if (call.method == Method::get || call.method == Method::iget) log_got(call);
        records();
      }
    }
    MPI_Barrier(run_.comm());
    if (all_.one_in(3)) run_.code("sync_numrecs", ncmpi_sync_numrecs(file_));
    if (all_.one_in(3)) run_.code("sync", ncmpi_sync(file_));
    run_.code("end_indep", ncmpi_end_indep_data(file_));
  }

  void redefine() {
    put_last_elements(run_, file_);
    run_.code("redef", ncmpi_redef(file_));
    if (all_.one_in(2)) {
      const std::string longer(static_cast<std::size_t>(all_.below(2000)), 'x');
      run_.code("att", ncmpi_put_att_text(file_, NC_GLOBAL, ("a" + std::to_string(vars_.size())).c_str(),
                                          static_cast<MPI_Offset>(longer.size()), longer.c_str()));
    }
    if (vars_.size() < 10) define(static_cast<int>(all_.below(2)));
    if (all_.one_in(2)) post_group();
    run_.code("enddef", ncmpi_enddef(file_));
  }

  void read_back() {
    put_last_elements(run_, file_);
    for (const Var& v : vars_) {
      std::vector<MPI_Offset> start(v.dims.size(), 0), count = v.shape;
      if (v.is_record) ncmpi_inq_dimlen(file_, 0, &count[0]);
      MPI_Offset n = 1;
      for (MPI_Offset c : count) n *= c;
      std::vector<std::byte> values(static_cast<std::size_t>(n) * size_of(memory_of(v.type)) + 8);
      run_.code("get", ncmpi_get_vara_all(file_, v.id, start.data(), count.data(), values.data(), n,
                                          mpi_type_of(memory_of(v.type))));
      run_.value("contents",
                 hash_of(values.data(), static_cast<std::size_t>(n) * size_of(memory_of(v.type))));
    }
  }

  void close_after_all() {
    finish_pending();
    put_last_elements(run_, file_);
    run_.code("detach", ncmpi_buffer_detach(file_));
    sizes();
    run_.code("close", ncmpi_close(file_));
  }

  void open_again() {
    run_.code("open", ncmpi_open(run_.comm(), run_.path().c_str(), NC_WRITE, MPI_INFO_NULL, &file_));
    run_.expect_driver(file_);
    run_.code("attach", ncmpi_buffer_attach(file_, attached_bytes));
  }

  void one_step() {
    attached_ = true;
    switch (all_.below(18)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return put_collectively(busy_.empty());
      case 4:
      case 5:
        return post_group();
      case 6:
      case 7:
        return finish_pending();
      case 8:
        return independent_section();
      case 9:
        return redefine();
      case 10:
        return cancel_some();
      case 11:
        run_.code("sync", ncmpi_sync(file_));
        return sizes();
      case 12:
        return all_.one_in(2) ? put_whole() : read_back();
      case 13:
        if (!all_.one_in(2)) return rename();
        close_after_all();
        return open_again();
      case 14:
      case 15:
        return get_collectively();
      case 16:
        return post_gets();
      case 17:
        return read_elsewhere();
    }
  }

  void rename() {
    const Var& v = all_.pick(vars_);
    run_.code("rename", ncmpi_rename_var(file_, v.id, ("w" + std::to_string(v.id)).c_str()));
  }

  Run& run_;
  Dice all_;
  std::uint64_t seed_;
  int steps_;
  // Of the file, about: every rank reads it back, and a sparse file of many GiB fills a disk where it is
  // copied.
  MPI_Offset most_bytes_;
  int format_ = 1;
  int file_ = -1;
  bool attached_ = false;
  std::vector<MPI_Offset> dims_;
  MPI_Offset fixed_bytes_ = 0, record_bytes_ = 0;
  std::vector<Var> vars_;
  std::vector<int> busy_;  // variables with requests pending
  std::vector<std::unique_ptr<Call>> pending_;
  std::vector<std::unique_ptr<Call>> unfinished_;
};

}  // namespace
}  // namespace forebay::test

int main(int argc, char** argv) {
  using namespace forebay::test;
  MPI_Init(&argc, &argv);
  std::uint64_t seed = 1;
  int count = 20;
  int steps = 20;
  int mib = 256;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--steps") == 0) steps = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--mib") == 0) mib = std::atoi(argv[i + 1]);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int failed = 0;
  for (int i = 0; i < count; ++i, ++seed) {
    if (same_on_both("random " + std::to_string(seed), MPI_COMM_WORLD,
                     [&](Run& run) { Player(run, seed, steps, MPI_Offset{mib} << 20).play(); }))
      continue;
    ++failed;
    if (rank == 0)
      std::fprintf(stderr, "reproduce with --seed %llu --count 1 --steps %d --mib %d\n",
                   static_cast<unsigned long long>(seed), steps, mib);
    if (failed >= 5) break;
  }
  if (rank == 0) std::printf("%d programs, %d differ\n", count, failed);
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
