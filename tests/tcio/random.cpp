// Random TCIO programs against an image of the file that every rank keeps: each rank writes and reads pieces
// of its own share as often as it likes, then all meet. A failing one is told by its seed; --seed N --count 1
// plays it again.
#include <forebay/tcio.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "../dice.hpp"

namespace {

using std::int64_t;
using test::Dice;

int rank = 0;
int ranks = 1;
int failures = 0;
bool may_be_off = true;  // Forebay, which MPI-IO alone is then compared with

struct Expected {
  std::vector<unsigned char> got, want;
  int64_t begin = -1;  // of what others may write until tcio_fetch_all, which sees it
};

/// What one program does; all ranks play all of it in their images, and their own part in the file.
class Program {
 public:
  Program(unsigned seed, int phases) : seed_(seed), phases_(phases), dice_(seed) {
    static const std::vector<std::string> modes{"", "", "forebay_mode=strict;", "forebay_mode=commit;",
                                                "forebay_enable=off;"};
    static const std::vector<std::string> segments{"",
                                                   "forebay_segment_bytes=512;",
                                                   "forebay_segment_bytes=4k;forebay_segments=1;",
                                                   "forebay_segment_bytes=1000;forebay_segments=3;",
                                                   "forebay_stripe_bytes=4k;forebay_pool_bytes=64k;",
                                                   "forebay_stripe_bytes=64k;forebay_pool_bytes=128k;"};
    static const std::vector<std::string> nodes{"", "", "forebay_ranks_per_node=1;",
                                                "forebay_ranks_per_node=2;", "forebay_ranks_per_node=3;"};
    static const std::vector<std::string> others{"",
                                                 "",
                                                 "forebay_storage=mpiio;",
                                                 "forebay_storage=posix;",
                                                 "forebay_storage=posix;",
                                                 "forebay_delay_usec=50;",
                                                 "forebay_bypass_bytes=4k;",
                                                 "forebay_commit_seconds=0;"};
    const std::string mode = dice_.pick(modes);
    hints_ = (may_be_off || mode.find("off") == std::string::npos ? mode : "") + dice_.pick(segments) +
             dice_.pick(nodes) + dice_.pick(others);
    length_ = dice_.between(1, dice_.one_in(3) ? 300000 : 20000);
    base_ = dice_.one_in(6) ? (int64_t{5} << 30) + dice_.below(10000) : dice_.below(5000);
    image_.assign(static_cast<std::size_t>(length_), 0);
  }

  void play() {
    if (rank == 0) std::remove(path_.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    open(FOREBAY_CREATE | FOREBAY_RDWR);
    for (int phase = 0; phase < phases_; ++phase) {
      share_out();
      meeting_ = dice_.below(8);
      for (int who = 0; who < ranks; ++who) {
        const int64_t calls = dice_.one_in(4) ? 0 : dice_.below(40);
        for (int64_t i = 0; i < calls; ++i) call(who);
      }
      meet();
    }
    must(tcio_close(&file_), "close");
    check_reads();
    check_file();
    if (failures > 0) give_up();
    if (rank == 0) std::remove(path_.c_str());
  }

 private:
  static constexpr int64_t kFetchAll = 4;

  void fail(const std::string& what) {
    if (failures < 3) std::fprintf(stderr, "seed %u rank %d: %s\n", seed_, rank, what.c_str());
    ++failures;
  }
  void must(int code, const char* what) {
    if (code != FOREBAY_SUCCESS)
      fail(std::string(what) + ": " + forebay_strerror(code) + ": " + forebay_last_error());
  }

  void open(int flags) {
    MPI_Info info;
    MPI_Info_create(&info);
    for (std::size_t at = 0; at < hints_.size();) {
      const std::size_t equals = hints_.find('=', at), end = hints_.find(';', at);
      MPI_Info_set(info, hints_.substr(at, equals - at).c_str(),
                   hints_.substr(equals + 1, end - equals - 1).c_str());
      at = end + 1;
    }
    must(tcio_open(MPI_COMM_WORLD, path_.c_str(), flags, info, &file_), "open");
    MPI_Info_free(&info);
    position_ = 0;
    if (failures > 0) give_up();
  }

  // Blocks of the file for this phase: each is one rank's, or nobody's and to be read by all.
  void share_out() {
    width_ = dice_.one_in(2) ? dice_.between(1, 64) : dice_.between(1, length_);
    owners_.resize(static_cast<std::size_t>((length_ + width_ - 1) / width_));
    for (int& owner : owners_) owner = static_cast<int>(dice_.below(ranks + 1)) - 1;
  }

  // A range in one block that `who` may read, or write. What another one writes may be read where
  // tcio_fetch_all ends the phase.
  bool find_range(int who, bool to_write, int64_t& begin, int64_t& end) {
    for (int tries = 0; tries < 20; ++tries) {
      const int64_t block = dice_.below(static_cast<int64_t>(owners_.size()));
      const int owner = owners_[static_cast<std::size_t>(block)];
      if (owner != who && (to_write || (owner >= 0 && meeting_ != kFetchAll))) continue;
      const int64_t low = block * width_, high = std::min(low + width_, length_);
      begin = dice_.between(low, high - 1);
      end = dice_.one_in(3) ? high : dice_.between(begin, std::min(high, begin + 40));
      return true;
    }
    return false;
  }

  void call(int who) {
    const int64_t kind = dice_.below(12);
    int64_t begin = 0, end = 0;
    if (kind <= 5) {
      if (!find_range(who, true, begin, end)) return;
      const auto salt = dice_.next();
      std::vector<unsigned char> data(static_cast<std::size_t>(end - begin));
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(salt + 31 * i);
      std::copy(data.begin(), data.end(), image_.begin() + begin);
      if (end > begin) size_ = std::max(size_, base_ + end);
      if (who != rank) return;
      if (kind == 5) {
        must(tcio_seek(file_, base_ + begin - position_, SEEK_CUR), "seek");
        must(tcio_write(file_, data.data(), end - begin), "write");
        position_ = base_ + end;
      } else {
        must(tcio_write_at(file_, base_ + begin, data.data(), end - begin), "write_at");
      }
      own_end_ = std::max(own_end_, end > begin ? base_ + end : 0);
      std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));  // it was taken
    } else if (kind <= 9) {
      if (!find_range(who, false, begin, end) || who != rank) return;
      reads_.emplace_back();
      Expected& read = reads_.back();
      const int owner = owners_[static_cast<std::size_t>(begin / width_)];
      if (owner >= 0 && owner != rank && end > begin) read.begin = begin;
      read.want.assign(image_.begin() + begin, image_.begin() + end);
      read.got.assign(read.want.size(), 0xEE);
      if (kind == 9) {
        must(tcio_seek(file_, base_ + begin, SEEK_SET), "seek");
        must(tcio_read(file_, read.got.data(), end - begin), "read");
        position_ = base_ + end;
      } else {
        must(tcio_read_at(file_, base_ + begin, read.got.data(), end - begin), "read_at");
      }
    } else if (kind == 10) {
      if (who != rank) return;
      must(tcio_fetch(file_), "fetch");
      reads_.remove_if([](const Expected& read) { return read.begin >= 0; });  // some of it, or nothing
      check_reads();
    } else {
      if (who != rank) return;
      int64_t at = -1, bytes = -1;
      must(tcio_tell(file_, &at), "tell");
      if (at != position_) fail("tell says " + std::to_string(at) + ", not " + std::to_string(position_));
      must(tcio_size(file_, &bytes), "size");
      if (bytes < std::max(own_end_, met_size_))
        fail("size " + std::to_string(bytes) + " is less than what was written");
    }
  }

  void meet() {
    const int64_t kind = meeting_;
    if (kind <= 2) {
      must(tcio_flush(file_), "flush");
    } else if (kind == 3) {
      must(tcio_sync(file_), "sync");
    } else if (kind == kFetchAll) {
      must(tcio_fetch_all(file_), "fetch_all");
      for (Expected& read : reads_) {
        if (read.begin < 0) continue;
        const auto at = image_.begin() + read.begin;
        read.want.assign(at, at + static_cast<int64_t>(read.got.size()));
      }
    } else if (kind == 5) {
      const int64_t cut = base_ + dice_.below(length_ + 100);
      must(tcio_set_size(file_, cut), "set_size");
      if (cut - base_ < length_) std::fill(image_.begin() + (cut - base_), image_.end(), 0);
      size_ = cut;
      own_end_ = 0;
      int64_t bytes = 0;
      must(tcio_size(file_, &bytes), "size");
      if (bytes != cut) fail("size " + std::to_string(bytes) + " after set_size " + std::to_string(cut));
      MPI_Barrier(MPI_COMM_WORLD);  // nobody has written more
    } else {
      must(tcio_close(&file_), "close");
      check_reads();
      if (kind == 7) {  // it is seen from outside
        check_file();
        MPI_Barrier(MPI_COMM_WORLD);
      }
      open(FOREBAY_RDWR);
      own_end_ = 0;
    }
    if (kind != 6 && kind != 7) check_reads();
    met_size_ = size_;
    if (failures > 0) give_up();  // the others would wait
  }

  void give_up() {
    std::fprintf(stderr, "FAILED: --seed %u --count 1 with %s\n", seed_, hints_.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  void check_reads() {
    for (const Expected& read : reads_) {
      if (read.got != read.want) {
        const auto at = std::mismatch(read.got.begin(), read.got.end(), read.want.begin()).first;
        fail("a read of " + std::to_string(read.got.size()) + " bytes differs at " +
             std::to_string(at - read.got.begin()));
      }
    }
    reads_.clear();
  }

  void check_file() {
    if (rank != 0) return;
    std::FILE* file = std::fopen(path_.c_str(), "rb");
    if (file == nullptr) return fail("no file");
    fseeko(file, 0, SEEK_END);
    if (ftello(file) != size_)
      fail("the file has " + std::to_string(ftello(file)) + " bytes, not " + std::to_string(size_));
    std::vector<unsigned char> got(image_.size(), 0);
    fseeko(file, base_, SEEK_SET);
    (void)!std::fread(got.data(), 1, got.size(), file);
    std::fclose(file);
    const auto at = std::mismatch(got.begin(), got.end(), image_.begin()).first;
    if (at != got.end()) fail("the file differs at " + std::to_string(at - got.begin()));
  }

  unsigned seed_;
  // Not one for all: hosts may take a name for the file that had it a second ago.
  std::string path_ = "tcio_random." + std::to_string(seed_) + ".dat";
  int phases_;
  Dice dice_;
  std::string hints_;
  int64_t base_ = 0, length_ = 0;  // the part of the file that is used
  int64_t size_ = 0, met_size_ = 0, own_end_ = 0;
  std::vector<unsigned char> image_;
  int64_t width_ = 1;
  std::vector<int> owners_;
  int64_t meeting_ = 0;  // what ends the phase
  tcio_file file_ = TCIO_FILE_NULL;
  int64_t position_ = 0;
  std::list<Expected> reads_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned seed = 1;
  int count = 60, phases = 8;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--phases") == 0) phases = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--stock") == 0) may_be_off = std::atoi(argv[i + 1]) != 0;
  }
  for (int i = 0; i < count; ++i) Program(seed + static_cast<unsigned>(i), phases).play();
  if (rank == 0) std::printf("%d programs from seed %u: ok\n", count, seed);
  MPI_Finalize();
  return 0;
}
