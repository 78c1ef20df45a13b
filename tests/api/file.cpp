// Forebay's own file without Kokkos: boxes and lists from ranges, what is pending, what is refused and who is
// told, callbacks that throw, files that were closed.
#include <forebay/file.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>

namespace {

using forebay::Box;
using forebay::ByteOrder;
using forebay::Error;
using forebay::File;

int rank = 0;
int ranks = 1;
int failures = 0;

void check(bool good, const char* what, int line) {
  if (good) return;
  std::fprintf(stderr, "rank %d line %d: %s (%s)\n", rank, line, what, forebay_last_error());
  ++failures;
}
#define CHECK(x) check(x, #x, __LINE__)

// The code that is thrown, or 0; what() has to have `text` in it.
int thrown(const std::function<void()>& body, const char* text = "") {
  try {
    body();
    return 0;
  } catch (const Error& error) {
    if (std::strstr(error.what(), text) == nullptr) std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    CHECK(std::strstr(error.what(), text) != nullptr);
    return error.code();
  }
}
#define THROWS(code, ...) check(thrown(__VA_ARGS__) == (code), #code " " #__VA_ARGS__, __LINE__)

using forebay::Mode;
constexpr Mode kNew = Mode::read_write | Mode::create | Mode::truncate;

File open_file(const char* path, Mode mode,
               std::initializer_list<std::pair<const char*, const char*>> hints = {}) {
  forebay::Hints set;
  for (const auto& [key, value] : hints) set.set(key, value);
  return File(MPI_COMM_WORLD, path, mode, set);
}

template <class T>
std::vector<T> contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

std::vector<int> numbers(int n, int from) {
  std::vector<int> list(static_cast<std::size_t>(n));
  std::iota(list.begin(), list.end(), from);
  return list;
}

// Each rank has every ranks-th column of a matrix; then all of it in one piece, and by itself.
void spans(const char* mode) {
  const std::int64_t rows = 50, each = 7, columns = each * ranks;
  File file = open_file("spans.dat", kNew, {{"forebay_mode", mode}, {"forebay_stripe_bytes", "4k"}});
  const std::vector<int> mine = numbers(static_cast<int>(rows * each), 1000 * rank);
  const Box box{16, {rows, columns}, {0, rank}, {rows, each}, {1, ranks}};
  file.put_all(box, mine);
  std::vector<int> again(mine.size());
  file.get_all(box, again);
  CHECK(again == mine);
  // A line a rank behind it, turned round.
  const std::int64_t behind = 16 + rows * columns * 4;
  file.put({behind + 20 * rank}, std::span(mine).first(5), ByteOrder::big);
  std::vector<int> line(5);
  file.get({behind + 20 * rank}, line, ByteOrder::big);
  CHECK(std::equal(line.begin(), line.end(), mine.begin()));
  CHECK(file.size() >= behind + 20 * (rank + 1));
  // Part of one dimension, past the end: zeros.
  std::vector<double> beyond(3, 1.0);
  file.get({1 << 20, {100}, {50}}, std::span(beyond));
  CHECK(beyond == std::vector<double>(3, 0.0));
  file.flush();
  File moved(std::move(file));
  CHECK(!file.is_open() && moved.is_open());
  const std::vector<int> all = contents<int>("spans.dat");
  CHECK(all.size() == static_cast<std::size_t>(4 + rows * columns + 5 * ranks));
  for (std::int64_t i = 0; i < rows * columns && failures == 0; ++i) {
    const std::int64_t owner = i % columns % ranks;
    CHECK(all[static_cast<std::size_t>(4 + i)] == 1000 * owner + i / columns * each + i % columns / ranks);
  }
  CHECK(all.back() == static_cast<int>(__builtin_bswap32(1000U * static_cast<unsigned>(ranks - 1) + 4)));
  MPI_Barrier(MPI_COMM_WORLD);
  moved.set_size(24);
  CHECK(moved.size() == 24);
  moved.sync();
  moved.close();
}

// What one rank gets wrong all hear of, and the others' part is done.
void refused() {
  File file = open_file("refused.dat", kNew);
  std::vector<double> data(12, 1.0 + rank);
  const auto all = std::span(data);
  const bool last = rank == ranks - 1;
  // (1) as many elements, (2) dimensions, (3) within the array, (4) the array within a file
  THROWS(
      FOREBAY_ERR_ARGUMENT, [&] { file.put_all({0, {3, 4}}, last ? all.first(11) : all); }, "memory of 11");
  THROWS(
      FOREBAY_ERR_ARGUMENT,
      [&] {
        file.put_all({0, {12}, last ? std::vector<std::int64_t>{0, 0} : std::vector<std::int64_t>{}}, all);
      },
      "dimensions");
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.put_all({0, {12}, {last ? 1 : 0}}, all); }, "do not fit into 12");
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.get_all({last ? -8 : 0}, all); }, "offset -8");
  THROWS(
      FOREBAY_ERR_ARGUMENT, [&] { file.put({0, {std::int64_t{1} << 60, 12}, {0, 0}, {1, 12}}, all); },
      "2^62");
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.put({0, {12}, {}, {}, {0}}, all); }, "stride of 0");
  // Nothing of a list with a wrong request.
  forebay::Puts puts;
  puts.add({0, {12}}, all);
  puts.add({0, {11}}, all);
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.put(puts); }, "request 1");
  file.put_all(puts = forebay::Puts());
  file.close();
  if (ranks == 1) CHECK(contents<double>("refused.dat").empty());
  THROWS(FOREBAY_ERR_FILE, [&] { file.put_all({}, all); }, "no file");
  THROWS(FOREBAY_ERR_FILE, [&] { file.flush(); });
  THROWS(FOREBAY_ERR_FILE, [&] { file.close(); });
  THROWS(FOREBAY_ERR_NO_FILE, [] { open_file("no/such/folder", kNew); }, "no/such/folder");
  THROWS(FOREBAY_ERR_ARGUMENT, [] { open_file("refused.dat", Mode::create); }, "FOREBAY_RDONLY");
  File reading = open_file("refused.dat", Mode::read);
  THROWS(FOREBAY_ERR_MODE, [&] { reading.put_all({}, all); }, "only to be read");
  THROWS(FOREBAY_ERR_MODE, [&] { reading.set_size(0); });
}

// What is wrong with a list of pieces; and what is not.
void lists() {
  using forebay::Pieces;
  File file = open_file("lists.dat", kNew, {{"forebay_stripe_bytes", "4k"}});
  const bool last = rank == ranks - 1;
  const std::int64_t far = std::int64_t{1} << 59;
  std::vector<double> data(6, 1.0 + rank);
  using List = std::vector<std::int64_t>;
  const auto refused = [&](const char* why, const List& offsets, const List& lengths,
                           std::int64_t offset = 0) {
    const List good{0, 3}, lengths_of_good{1, 5};
    THROWS(
        FOREBAY_ERR_ARGUMENT,
        [&] { file.put_all(last ? Pieces{offsets, lengths, offset} : Pieces{good, lengths_of_good}, data); },
        why);
    if (last) THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.get({offsets, lengths, offset}, data); }, why);
  };
  refused("piece 1: offset -1", {0, -1}, {1, 5});
  refused("piece 0: -1 elements", {0, 9}, {-1, 7});
  refused("piece 1: -3 elements", {0, 9}, {6, -3});
  refused("end past 2^62", {0, far}, {1, 5});
  refused("end past 2^62", {0, far - 2}, {1, 5});
  refused("end past 2^62", {0, far - 5}, {1, 5}, 8);
  refused("end past 2^62", {0, INT64_MAX}, {1, 5});
  refused("offset -8", {0, 8}, {1, 5}, -8);
  refused("a list at offset 9", {0, 8}, {1, 5}, INT64_MAX);
  refused("memory of 6", {0, 8}, {1, 4});
  refused("memory of 6", {0, 8}, {INT64_MAX, INT64_MAX});
  refused("2 offsets and 1 lengths", {0, 8}, {6});
  // No piece, pieces of nothing, one element each; a later piece over an earlier one.
  const List none, first{0, 7, 3}, nothing{0, 6, 0}, each{40, 41, 42, 43, 41, 44}, over{20, 21}, twice{3, 3};
  std::vector<double> empty;
  file.put_all({none}, empty);
  if (rank == 0) {
    file.put({first, nothing}, data);
    data = {0, 1, 2, 3, 4, 5};
    file.put({each}, data);
    file.put({over, twice}, data, ByteOrder::big);
    data.assign(6, 0);
    file.get({each}, data);
    CHECK((data == std::vector<double>{0, 4, 2, 3, 4, 5}));
    std::vector<double> four(4);
    file.get({.offset = 160}, four, ByteOrder::big);
    CHECK((four == std::vector<double>{0, 3, 4, 5}));
    CHECK(file.size() == 45 * 8);
  }
  file.close();
}

// A collective put is newer than what any rank put by itself before, also where each call goes to MPI-IO.
void newer(const forebay::Hints& hints) {
  File file(MPI_COMM_WORLD, "newer.dat", kNew, hints);
  const std::vector<int> old(1000, -1), mine(rank == 0 ? 1000 : 0, 1);
  if (rank == ranks - 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    file.put({}, old);
  }
  file.put_all({}, mine);
  std::vector<int> got(1000);
  file.get_all({}, got);
  CHECK(got == std::vector<int>(1000, 1));
  file.close();
}

// What is pending: who hears of what is wrong with it, and when it is there.
void later() {
  File file = open_file("later.dat", kNew);
  const bool last = rank == ranks - 1;
  const std::vector<int> mine{10 * rank, 10 * rank + 1};
  std::vector<int> all(static_cast<std::size_t>(2 * ranks), -1);
  file.iput({8 * rank}, mine);
  file.iget({0}, all);
  CHECK(file.size() == 0 && all[0] == -1);
  file.wait_all();
  for (int r = 0; r < ranks; ++r) CHECK(all[static_cast<std::size_t>(2 * r)] == 10 * r);
  file.wait_all();  // nothing
  file.wait();
  // One rank's mistake all hear of, once; what is right is done.
  if (last) file.iput({-8}, mine);
  file.iput({800 + 8 * rank}, mine);
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.wait_all(); }, "offset -8");
  file.wait_all();
  std::vector<int> two(2);
  file.get({800 + 8 * rank}, two);
  CHECK(two == mine);
  // By each of the others, too; wait tells only this rank.
  if (last) {
    file.iget({-8}, two);
    THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.wait(); }, "offset -8");
    file.iget({-8}, two);
  }
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.flush(); }, "offset -8");
  if (last) file.iput({4, {2}, {1}}, mine);
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.sync(); }, "do not fit into 2");
  if (last) file.iput({4, {2}, {1}}, mine);
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.set_size(0); }, "do not fit into 2");
  // In C the mistake is told at once, too, and so is the rest of that list refused.
  if (last) {
    forebay_request r{};
    r.size = sizeof r;
    r.element_bytes = 4;
    r.ndims = 1;
    CHECK(forebay_iput(file.handle(), &r, 1) == FOREBAY_ERR_ARGUMENT);
  }
  file.iget({8 * rank}, two);
  THROWS(FOREBAY_ERR_ARGUMENT, [&] { file.close(); }, "no shape");
  CHECK(two == mine);
  THROWS(FOREBAY_ERR_FILE, [&] { file.iput({}, mine); });
  THROWS(FOREBAY_ERR_FILE, [&] { file.wait_all(); });
  THROWS(FOREBAY_ERR_FILE, [&] { file.wait(); });
  File reading = open_file("later.dat", Mode::read);
  THROWS(FOREBAY_ERR_MODE, [&] { reading.iput({}, mine); }, "only to be read");
  reading.iget({8 * rank}, two);
  File moved = std::move(reading);
  two = {7, 7};
  moved.close();
  CHECK(two == mine);
}

struct Mishap {};

// Copies from or to a vector, and throws Mishap at its n-th call.
class Copying final : public forebay::Stager {
 public:
  Copying(std::vector<double>& data, bool put, int fails_at) : data_(data), put_(put), fails_at_(fails_at) {}
  void* reserve(std::int64_t bytes) override {
    memory_.resize(static_cast<std::size_t>(bytes));
    return memory_.data();
  }
  void release() noexcept override { memory_.clear(); }
  void begin(int, std::int64_t first, std::int64_t bytes, void* at) override {
    count();
    char* mine = reinterpret_cast<char*>(data_.data()) + first;
    std::memcpy(put_ ? at : mine, put_ ? mine : at, static_cast<std::size_t>(bytes));
  }
  void finish(int) override { count(); }

 private:
  void count() {
    if (++calls_ == fails_at_) throw Mishap();
  }
  std::vector<double>& data_;
  std::vector<char> memory_;
  bool put_;
  int fails_at_;
  int calls_ = 0;
};

void stagers(const char* mode, bool together, int fails_at, bool at_once = true) {
  constexpr std::int64_t n = 4000;
  if (rank == 0) std::remove("stagers.dat");
  MPI_Barrier(MPI_COMM_WORLD);
  File file = open_file("stagers.dat", kNew, {{"forebay_mode", mode}, {"forebay_stripe_bytes", "4k"}});
  std::vector<double> data(n, 1.5 + rank);
  const int failing = ranks - 1;
  const int at = rank == failing ? fails_at : 0;
  const Box box{0, {n, ranks}, {0, rank}, {n, 1}};
  const auto outcome = [&](bool put) {
    try {
      if (put) {
        forebay::Puts puts;
        puts.staging_bytes(1000);
        puts.add(box, 8, {n}, std::make_unique<Copying>(data, true, at));
        if (!at_once) file.iput(std::move(puts));
        if (!at_once)
          together ? file.wait_all() : file.wait();
        else
          together ? file.put_all(puts) : file.put(puts);
      } else {
        forebay::Gets gets;
        gets.staging_bytes(1000);
        gets.add(box, 8, {n}, std::make_unique<Copying>(data, false, at));
        if (!at_once) file.iget(std::move(gets));
        if (!at_once)
          together ? file.wait_all() : file.wait();
        else
          together ? file.get_all(gets) : file.get(gets);
      }
      return std::string();
    } catch (const Mishap&) {
      return std::string("mishap");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const auto as_expected = [&](const std::string& got) {
    if (fails_at == 0 || (rank != failing && !together)) return got.empty();
    return rank == failing ? got == "mishap" : got.find("callback failed") != std::string::npos;
  };
  CHECK(as_expected(outcome(true)));
  file.flush();
  // The file goes on, and has nothing that was not put.
  const std::vector<double> all = contents<double>("stagers.dat");
  for (std::size_t i = 0; i < all.size() && failures == 0; ++i)
    CHECK(all[i] == 1.5 + static_cast<double>(i % static_cast<std::size_t>(ranks)) ||
          (fails_at > 0 && all[i] == 0));
  if (fails_at == 0) CHECK(all.size() == static_cast<std::size_t>(n * ranks));
  MPI_Barrier(MPI_COMM_WORLD);
  std::fill(data.begin(), data.end(), 0.0);
  CHECK(as_expected(outcome(false)));
  if (fails_at == 0) CHECK(data == std::vector<double>(n, 1.5 + rank));
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const char* mode : {"strict", "commit"}) {
    spans(mode);
    for (const bool together : {true, false}) {
      for (const int fails_at : {0, 1, 2, 9}) stagers(mode, together, fails_at);
      stagers(mode, together, 2, false);
    }
  }
  setenv("FOREBAY_HINTS", "forebay_enable=off", 1);
  spans("strict");
  stagers("strict", true, 9);
  setenv("FOREBAY_HINTS", "forebay_ranks_per_node=1", 1);
  stagers("commit", true, 0);
  stagers("commit", true, 2);
  unsetenv("FOREBAY_HINTS");
  refused();
  lists();
  newer({});
  newer(forebay::Hints().ranks_per_node(1).mode(forebay::Gather::commit));
  newer(forebay::Hints().enabled(false));
  later();
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && failures == 0) std::printf("ok\n");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
