// Random programs on forebay::File against an image of the file that every rank keeps: boxes and lists of
// pieces, at once and later, from memory and staged, alone and together. A failing one is told by its seed;
// --seed N --count 1 plays it again.
#include <forebay/file.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "../dice.hpp"

namespace {

using forebay::Hints;
using forebay::Mode;
using std::int64_t;
using test::Dice;

int rank = 0;
int ranks = 1;

/// Elements of the file, in the order of the memory; the same on all ranks but for what is mine alone.
struct Request {
  int64_t element = 1;
  bool list = false, swap = false, staged = false, without_lengths = false;
  int64_t offset = 0;
  std::vector<int64_t> shape, start, count, stride;  // of a box
  std::vector<int64_t> offsets, lengths;             // of a list
  std::vector<int64_t> places;                       // in the file, of each element
  std::vector<unsigned char> memory, want;

  int64_t bytes() const { return static_cast<int64_t>(places.size()) * element; }
  /// Between an element of memory and of the file.
  void turn(const unsigned char* from, unsigned char* to) const {
    for (int64_t i = 0; i < element; ++i) to[swap ? element - 1 - i : i] = from[i];
  }
};

// What is staged comes in file form.
class Copying final : public forebay::Stager {
 public:
  Copying(Request& request, bool put) : request_(request), put_(put) {}
  void* reserve(int64_t bytes) override {
    memory_.resize(static_cast<std::size_t>(bytes));
    return memory_.data();
  }
  void release() noexcept override { memory_.clear(); }
  void begin(int, int64_t first, int64_t bytes, void* at) override {
    for (int64_t i = 0; i < bytes; i += request_.element) {
      unsigned char* mine = request_.memory.data() + first + i;
      unsigned char* staged = static_cast<unsigned char*>(at) + i;
      put_ ? request_.turn(mine, staged) : request_.turn(staged, mine);
    }
  }
  void finish(int) override {}

 private:
  Request& request_;
  std::vector<unsigned char> memory_;
  bool put_;
};

class Program {
 public:
  Program(unsigned seed, int phases) : seed_(seed), phases_(phases), dice_(seed) {
    static const std::vector<std::string> modes{"", "", "mode=strict;", "mode=commit;", "enable=off;"};
    static const std::vector<std::string> segments{"", "segment_bytes=512;", "segment_bytes=4k;segments=1;",
                                                   "stripe_bytes=4k;pool_bytes=64k;"};
    static const std::vector<std::string> nodes{"", "", "ranks_per_node=1;", "ranks_per_node=2;"};
    static const std::vector<std::string> others{"",
                                                 "",
                                                 "storage=mpiio;",
                                                 "storage=posix;",
                                                 "bypass_bytes=512;",
                                                 "memory_bytes=64k;",
                                                 "commit_seconds=0;"};
    hints_ = dice_.pick(modes) + dice_.pick(segments) + dice_.pick(nodes) + dice_.pick(others);
    width_ = 24 * dice_.between(1, dice_.one_in(3) ? 200 : 20);
    rows_ = dice_.between(1, dice_.one_in(3) ? 300 : 30) * ranks;
    base_ = dice_.one_in(6) ? (int64_t{5} << 30) + dice_.below(10000) : dice_.below(5000);
    image_.assign(static_cast<std::size_t>(width_ * rows_), 0);
    pending_puts_.resize(static_cast<std::size_t>(ranks));
  }

  void play() {
    if (rank == 0) std::remove(kPath);
    MPI_Barrier(MPI_COMM_WORLD);
    try {
      open(Mode::read_write | Mode::create);
      for (int phase = 0; phase < phases_; ++phase) {
        shift_ = dice_.below(ranks);
        for (int who = 0; who < ranks; ++who) {
          const int64_t calls = dice_.one_in(4) ? 0 : dice_.below(12);
          foreign_ = false;
          for (int64_t i = 0; i < calls; ++i) call(who);
        }
        meet();
      }
      for (int who = 0; who < ranks; ++who) take_puts(who);
      file_->close();
      check_gets();
      check_file();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

 private:
  static constexpr const char* kPath = "api_random.dat";

  [[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "rank %d: %s\nFAILED: --seed %u --count 1 with %s\n", rank, what.c_str(), seed_,
                 hints_.c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

  void open(Mode mode) {
    Hints hints;
    for (std::size_t at = 0; at < hints_.size();) {
      const std::size_t equals = hints_.find('=', at), end = hints_.find(';', at);
      hints.set("forebay_" + hints_.substr(at, equals - at), hints_.substr(equals + 1, end - equals - 1));
      at = end + 1;
    }
    file_.emplace(MPI_COMM_WORLD, kPath, mode, hints);
  }

  // Rows go round among the ranks. The request of `who`, in his own rows or in any.
  Request request(int who, bool any_rows, bool put) {
    static const std::vector<int64_t> elements{1, 2, 3, 4, 8, 8, 12};
    Request r;
    r.element = dice_.pick(elements);
    r.swap = (r.element & (r.element - 1)) == 0 && dice_.one_in(3);
    r.staged = dice_.one_in(4);
    r.list = dice_.one_in(2);
    r.offset = base_;
    const int64_t columns = width_ / r.element, mine = any_rows ? rows_ : rows_ / ranks;
    const auto row = [&](int64_t i) { return any_rows ? i : i * ranks + (who + shift_) % ranks; };
    if (r.list) {
      r.without_lengths = dice_.one_in(4);
      const int64_t pieces = dice_.one_in(6) ? 0 : dice_.below(dice_.one_in(4) ? 3000 : 40);
      const bool ascending = dice_.one_in(2);
      for (int64_t i = 0; i < pieces; ++i) {
        const int64_t column = dice_.below(columns);
        r.offsets.push_back(row(dice_.below(mine)) * columns + column);
        r.lengths.push_back(r.without_lengths ? 1 : dice_.below(std::min<int64_t>(columns - column, 9) + 1));
      }
      if (ascending) {  // none over another
        std::sort(r.offsets.begin(), r.offsets.end());
        for (std::size_t i = 0; i + 1 < r.offsets.size(); ++i)
          r.lengths[i] =
              std::min({r.lengths[i], r.offsets[i + 1] - r.offsets[i], columns - r.offsets[i] % columns});
        if (!r.lengths.empty())
          r.lengths.back() = std::min(r.lengths.back(), columns - r.offsets.back() % columns);
        if (r.without_lengths) {
          r.offsets.erase(std::unique(r.offsets.begin(), r.offsets.end()), r.offsets.end());
          r.lengths.assign(r.offsets.size(), 1);
        }
      }
      for (std::size_t i = 0; i < r.offsets.size(); ++i) {
        for (int64_t k = 0; k < r.lengths[i]; ++k) r.places.push_back((r.offsets[i] + k) * r.element);
      }
    } else {
      const int64_t first = dice_.below(mine), left = dice_.below(columns);
      const int64_t step = dice_.between(1, 3), stride = dice_.between(1, 3);
      const int64_t count = dice_.below((mine - first + step - 1) / step + 1);
      const int64_t across = dice_.below((columns - left + stride - 1) / stride + 1);
      r.shape = {rows_, columns};
      r.start = {row(first), left};
      r.count = {count, across};
      r.stride = {step * (any_rows ? 1 : ranks), stride};
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t k = 0; k < across; ++k)
          r.places.push_back(((r.start[0] + i * r.stride[0]) * columns + left + k * stride) * r.element);
      }
    }
    const auto salt = dice_.next();
    r.memory.resize(static_cast<std::size_t>(r.bytes()));
    for (std::size_t i = 0; i < r.memory.size(); ++i)
      r.memory[i] = put ? static_cast<unsigned char>((salt + i * i + 7 * i) >> (i % 5)) : 0xEE;
    return r;
  }

  // ---- the model ----

  void take_put(const Request& r) {
    for (std::size_t i = 0; i < r.places.size(); ++i) {
      r.turn(r.memory.data() + static_cast<int64_t>(i) * r.element, image_.data() + r.places[i]);
      size_ = std::max(size_, base_ + r.places[i] + r.element);
    }
  }
  void take_puts(int who) {
    auto& puts = pending_puts_[static_cast<std::size_t>(who)];
    for (const Request* r : puts) take_put(*r);
    puts.clear();
  }
  void expect(Request& r) {
    r.want.resize(r.memory.size());
    for (std::size_t i = 0; i < r.places.size(); ++i)
      r.turn(image_.data() + r.places[i], r.want.data() + static_cast<int64_t>(i) * r.element);
  }
  void check_got(const Request& r) {
    if (r.memory == r.want) return;
    const auto at = std::mismatch(r.memory.begin(), r.memory.end(), r.want.begin()).first;
    fail(std::string("a get of a ") + (r.list ? "list" : "box") + " differs at byte " +
         std::to_string(at - r.memory.begin()) + " of " + std::to_string(r.memory.size()));
  }
  // When all that was pending on this rank has been completed.
  void check_gets() {
    for (Request* r : pending_gets_) {
      expect(*r);
      check_got(*r);
    }
    pending_gets_.clear();
    kept_.clear();
  }

  // ---- the file ----

  template <class List>
  void add(List& list, Request& r) {
    constexpr bool put = std::is_same_v<List, forebay::Puts>;
    forebay::Place place =
        r.list ? forebay::Place(forebay::Pieces{
                     r.offsets,
                     r.without_lengths ? std::span<const int64_t>() : std::span<const int64_t>(r.lengths),
                     r.offset})
               : forebay::Place(forebay::Box{r.offset, r.shape, r.start, r.count, r.stride});
    const std::vector<int64_t> extents =
        r.list ? std::vector<int64_t>{static_cast<int64_t>(r.places.size())} : r.count;
    list.staging_bytes(1000);
    if (r.staged) {
      list.add(std::move(place), r.element, extents, std::make_unique<Copying>(r, put));
    } else {
      list.add(std::move(place), r.element, extents, r.memory.data(),
               r.swap ? forebay::ByteOrder::big : forebay::ByteOrder::native, nullptr);
    }
  }

  std::vector<Request> requests(int who, bool any_rows, bool put) {
    std::vector<Request> list;
    for (int64_t n = dice_.between(0, 3); n > 0; --n) list.push_back(request(who, any_rows, put));
    return list;
  }
  void put(std::vector<Request>& list, bool together) {
    forebay::Puts puts;
    for (Request& r : list) add(puts, r);
    together ? file_->put_all(puts) : file_->put(puts);
    for (Request& r : list) std::fill(r.memory.begin(), r.memory.end(), 0);  // it was taken
  }
  void get(std::vector<Request>& list, bool together) {
    forebay::Gets gets;
    for (Request& r : list) add(gets, r);
    together ? file_->get_all(gets) : file_->get(gets);
    for (Request& r : list) {
      expect(r);
      check_got(r);
    }
  }

  void call(int who) {
    const int64_t kind = dice_.below(10);
    auto& puts = pending_puts_[static_cast<std::size_t>(who)];
    if (kind <= 2) {
      auto list = requests(who, false, true);
      for (const Request& r : list) take_put(r);
      if (who == rank) put(list, false);
    } else if (kind <= 4) {
      auto list = requests(who, false, false);
      if (who == rank) get(list, false);
    } else if (kind <= 6) {
      forebay::Puts later;
      for (Request& r : requests(who, false, true)) {
        kept_.push_back(std::move(r));
        puts.push_back(&kept_.back());
        if (who == rank) add(later, kept_.back());
      }
      if (who == rank) file_->iput(std::move(later));
    } else if (kind <= 8) {
      const bool any = dice_.one_in(3);
      forebay::Gets later;
      for (Request& r : requests(who, any, false)) {
        foreign_ = foreign_ || any;
        if (who != rank) continue;
        kept_.push_back(std::move(r));
        pending_gets_.push_back(&kept_.back());
        add(later, kept_.back());
      }
      if (who == rank) file_->iget(std::move(later));
    } else if (!foreign_) {  // what others put is seen by those who meet
      take_puts(who);
      if (who != rank) return;
      file_->wait();
      for (Request* r : pending_gets_) {
        expect(*r);
        check_got(*r);
      }
      pending_gets_.clear();
    }
  }

  void meet() {
    const int64_t kind = dice_.below(9);
    if (kind <= 1) {
      std::vector<Request> mine;
      for (int who = 0; who < ranks; ++who) {
        auto list = requests(who, false, true);
        for (const Request& r : list) take_put(r);
        if (who == rank) mine = std::move(list);
      }
      put(mine, true);
    } else if (kind == 2) {
      std::vector<Request> mine;
      for (int who = 0; who < ranks; ++who) {
        auto list = requests(who, true, false);
        if (who == rank) mine = std::move(list);
      }
      get(mine, true);
    }
    for (int who = 0; who < ranks; ++who) take_puts(who);
    if (kind <= 3) {
      file_->wait_all();
    } else if (kind == 4) {
      file_->flush();
    } else if (kind == 5) {
      file_->sync();
    } else if (kind == 6) {
      const int64_t cut = base_ + dice_.below(width_ * rows_ + 100);
      file_->set_size(cut);
      check_gets();
      if (cut - base_ < width_ * rows_) std::fill(image_.begin() + (cut - base_), image_.end(), 0);
      size_ = cut;
      if (file_->size() != cut) fail("size after set_size");
      MPI_Barrier(MPI_COMM_WORLD);  // nobody has put more
    } else {
      file_->close();
      check_gets();
      check_file();
      MPI_Barrier(MPI_COMM_WORLD);
      open(Mode::read_write);
    }
    check_gets();
    // The next phase gives rows to other ranks.
    if (kind <= 3) file_->flush();
  }

  void check_file() {
    if (rank != 0) return;
    std::ifstream in(kPath, std::ios::binary | std::ios::ate);
    if (in.tellg() != size_)
      fail("the file has " + std::to_string(in.tellg()) + " bytes, not " + std::to_string(size_));
    std::vector<unsigned char> got(image_.size(), 0);
    in.seekg(base_);
    in.read(reinterpret_cast<char*>(got.data()), static_cast<std::streamsize>(got.size()));
    const auto at = std::mismatch(got.begin(), got.end(), image_.begin()).first;
    if (at != got.end()) fail("the file differs at " + std::to_string(at - got.begin()));
  }

  unsigned seed_;
  int phases_;
  Dice dice_;
  std::string hints_;
  int64_t width_ = 24, rows_ = 1, base_ = 0, size_ = 0, shift_ = 0;
  std::vector<unsigned char> image_;
  std::optional<forebay::File> file_;
  bool foreign_ = false;  // the rank whose calls are drawn waits for a get of others' rows
  std::deque<Request> kept_;
  std::vector<std::vector<const Request*>> pending_puts_;  // of all ranks
  std::vector<Request*> pending_gets_;                     // of this one
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned seed = 1;
  int count = 60, phases = 6;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--phases") == 0) phases = std::atoi(argv[i + 1]);
  }
  for (int i = 0; i < count; ++i) Program(seed + static_cast<unsigned>(i), phases).play();
  if (rank == 0) std::printf("%d programs from seed %u: ok\n", count, seed);
  MPI_Finalize();
  return 0;
}
