// Forebay's own file in C++: boxes of n-dimensional arrays, put and got from spans, by all ranks together or
// by each for itself. Header only, over the C functions of forebay/core.h; docs/cpp.md has the contract and
// an example.
#ifndef FOREBAY_FILE_HPP
#define FOREBAY_FILE_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "forebay/file.hpp needs C++20: -std=c++20, or target_compile_features(program PRIVATE cxx_std_20)"
#endif

#include <forebay/core.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay {

/// What every failure throws, on all ranks where the call was collective. code() is one of FOREBAY_ERR_*.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A box of an array that lies row-major in the file. Lists that are empty mean what is usual: `start` the
/// beginning, `stride` 1, `count` the extents of what is put or got, and `shape` the same, an array that is
/// put or got whole.
struct Box {
  std::int64_t offset = 0;  ///< of the array's first byte in the file
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> start{};
  std::vector<std::int64_t> count{};
  std::vector<std::int64_t> stride{};
};

/// Order of an element's bytes in the file.
enum class ByteOrder { native, big, little };

/// Whether elements have to be turned round.
inline constexpr bool swaps(ByteOrder order) {
  return (order == ByteOrder::big && std::endian::native == std::endian::little) ||
         (order == ByteOrder::little && std::endian::native == std::endian::big);
}

/// Fills (for a put) or takes (from a get) pieces of a request's stream: its elements in file form, in the
/// row-major order of its box. begin() may start the work and return; finish() of that slot waits for it.
/// What they throw, the call on this rank throws; the others throw Error. They may not use the file.
class Stager {
 public:
  virtual ~Stager() = default;
  /// Staging memory for one call, aligned for the elements; taken back by release().
  virtual void* reserve(std::int64_t bytes) = 0;
  virtual void release() noexcept = 0;
  /// Bytes [first, first + bytes) of the stream, whole elements, at `memory`, which is a place in the slot.
  /// Pieces ascend, but a piece of a put may be asked for again.
  virtual void begin(int slot, std::int64_t first, std::int64_t bytes, void* memory) = 0;
  virtual void finish(int slot) = 0;
};

namespace detail {

inline std::int64_t product(const std::vector<std::int64_t>& counts) {
  std::int64_t product = 1;
  for (const std::int64_t count : counts) {
    if (count <= 0) return count < 0 ? -1 : 0;
    if (__builtin_mul_overflow(product, count, &product)) return -1;
  }
  return product;
}

inline std::string text(const std::vector<std::int64_t>& list) {
  std::string text = "(";
  for (const std::int64_t value : list) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + ")";
}

/// The same but for extents of 1.
inline bool alike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> x, y;
  std::copy_if(a.begin(), a.end(), std::back_inserter(x), [](std::int64_t n) { return n != 1; });
  std::copy_if(b.begin(), b.end(), std::back_inserter(y), [](std::int64_t n) { return n != 1; });
  return x == y;
}

}  // namespace detail

/// Requests for one call, which puts or gets them together. It refers to the memory of spans, which has to
/// stay; what is wrong with a request, the call tells. May be used again.
class Requests {
 public:
  /// What a call may use of staging memory; where requests are many, each has 64 KiB all the same.
  void staging_bytes(std::int64_t bytes) { staging_bytes_ = bytes; }
  bool empty() const { return parts_.empty(); }
  std::size_t size() const { return parts_.size(); }
  void clear() { parts_.clear(); }
  /// Adds a request that cannot be made: the call throws with this reason, on all ranks where it is
  /// collective.
  void refuse(std::string reason) { parts_.emplace_back().refused = std::move(reason); }

 protected:
  struct Part {
    Box box;
    std::int64_t element_bytes = 0;
    void* memory = nullptr;
    bool swap = false;
    std::shared_ptr<const void> keeps{};  // alive, what memory belongs to
    std::unique_ptr<Stager> stager{};
    std::string refused{};
    // of a call
    std::exception_ptr thrown{};
    forebay_stage stage{};
  };

  /// Completes the box by the extents of what is in memory.
  Part& add(Box box, std::int64_t element_bytes, const std::vector<std::int64_t>& extents) {
    Part& part = parts_.emplace_back();
    if (box.shape.empty()) box.shape = box.count.empty() ? extents : box.count;
    const std::size_t dims = box.shape.size();
    if (box.count.empty()) {
      box.count = extents;
      if (dims != extents.size())
        part.refused = "an array of " + std::to_string(dims) + " dimensions, and memory of " +
                       std::to_string(extents.size());
    } else if (!detail::alike(box.count, extents)) {
      part.refused =
          "a box of " + detail::text(box.count) + " elements, and memory of " + detail::text(extents);
    }
    for (const auto* list : {&box.start, &box.count, &box.stride}) {
      if (part.refused.empty() && !list->empty() && list->size() != dims)
        part.refused = "shape, start, count and stride of " + std::to_string(dims) + " and " +
                       std::to_string(list->size()) + " dimensions";
    }
    part.box = std::move(box);
    part.element_bytes = element_bytes;
    return part;
  }
  /// Of a span: any number of dimensions, as many elements.
  Part& add(Box box, std::int64_t element_bytes, std::size_t elements, ByteOrder order) {
    const auto n = static_cast<std::int64_t>(elements);
    std::vector<std::int64_t> extents = box.count.empty() ? box.shape : box.count;
    if (box.count.empty() && box.shape.size() < 2) extents.assign(1, n);
    const bool fits = detail::product(extents) == n;
    Part& part = add(std::move(box), element_bytes, extents);
    if (!fits && part.refused.empty())
      part.refused = "a box of " + detail::text(extents) + " elements, and memory of " + std::to_string(n);
    part.swap = swaps(order) && element_bytes > 1;
    return part;
  }

 private:
  friend class File;

  static int begin(void* context, int slot, std::int64_t first, std::int64_t bytes, void* memory) {
    return contained(context, [&](Stager& stager) { stager.begin(slot, first, bytes, memory); });
  }
  static int finish(void* context, int slot) {
    return contained(context, [&](Stager& stager) { stager.finish(slot); });
  }
  template <class Body>
  static int contained(void* context, Body&& body) {
    auto* part = static_cast<Part*>(context);
    try {
      body(*part->stager);
      return 0;
    } catch (...) {
      if (!part->thrown) part->thrown = std::current_exception();
      return 1;
    }
  }

  /// Calls f(requests, n), and throws what a stager threw, or what the call says.
  template <class Call>
  void call(Call&& f) {
    std::int64_t staged = 0;
    for (const Part& part : parts_) staged += part.stager ? 1 : 0;
    std::vector<forebay_request> list;
    list.reserve(parts_.size());
    for (Part& part : parts_) list.push_back(request(part, staged));
    const int code = f(list.data(), static_cast<std::int64_t>(list.size()));
    std::exception_ptr thrown;
    for (Part& part : parts_) {
      if (part.stager) part.stager->release();
      if (!thrown) thrown = part.thrown;
      part.thrown = nullptr;
      part.stage = {};
    }
    if (thrown) std::rethrow_exception(thrown);
    if (code != FOREBAY_SUCCESS) throw Error(code, forebay_last_error());
  }

  forebay_request request(Part& part, std::int64_t staged) {
    forebay_request r{};
    const auto list = [](const std::vector<std::int64_t>& v) { return v.empty() ? nullptr : v.data(); };
    r.size = sizeof r;
    r.offset = part.box.offset;
    r.element_bytes = part.element_bytes;
    r.ndims = static_cast<int>(part.box.shape.size());
    r.swap = part.swap ? 1 : 0;
    r.shape = list(part.box.shape);
    r.start = list(part.box.start);
    r.count = list(part.box.count);
    r.stride = list(part.box.stride);
    r.memory = part.memory;
    if (part.refused.empty() && part.stager) stage(part, staged);
    if (part.stage.size != 0) r.stage = &part.stage;
    r.refused = part.refused.empty() ? (part.thrown ? "no staging memory" : nullptr) : part.refused.c_str();
    return r;
  }

  // Two slots, one for the pieces that move and one for the next; no larger than what there is to move.
  void stage(Part& part, std::int64_t staged) {
    constexpr std::int64_t kLeast = 64 << 10, kAlign = 256;
    const std::int64_t element = part.element_bytes;
    const std::int64_t elements = detail::product(part.box.count);
    if (elements <= 0) return;
    std::int64_t bytes = std::max(staging_bytes_ / staged, std::min(staging_bytes_, kLeast)) / 2;
    int slots = 2;
    if (elements <= bytes / element) slots = 1, bytes = elements * element;
    bytes = (std::max(bytes, element) + kAlign - 1) / kAlign * kAlign;
    try {
      part.stage.memory = part.stager->reserve(slots * bytes);
    } catch (...) {
      part.thrown = std::current_exception();
      return;
    }
    part.stage.size = sizeof part.stage;
    part.stage.context = &part;
    part.stage.begin = &Requests::begin;
    part.stage.finish = &Requests::finish;
    part.stage.slot_bytes = bytes;
    part.stage.slots = slots;
  }

  std::deque<Part> parts_;  // stay where they are
  std::int64_t staging_bytes_ = 8 << 20;
};

/// Of trivially copyable elements, which are in the file as they are in memory, but for the order of their
/// bytes.
class Puts : public Requests {
 public:
  template <class T, std::size_t N>
  void add(Box box, std::span<T, N> data, ByteOrder order = ByteOrder::native) {
    static_assert(std::is_trivially_copyable_v<T>);
    Part& part = Requests::add(std::move(box), sizeof(T), data.size(), order);
    part.memory = const_cast<std::remove_const_t<T>*>(data.data());  // it is not written to
  }
  /// `extents`: of the elements that the stager has.
  void add(Box box, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
           std::unique_ptr<Stager> stager) {
    Requests::add(std::move(box), element_bytes, extents).stager = std::move(stager);
  }
  /// Contiguous memory of these extents. `keeps` stays alive with this list.
  void add(Box box, std::int64_t element_bytes, const std::vector<std::int64_t>& extents, const void* memory,
           ByteOrder order, std::shared_ptr<const void> keeps) {
    Part& part = Requests::add(std::move(box), element_bytes, extents);
    part.memory = const_cast<void*>(memory);
    part.swap = swaps(order) && element_bytes > 1;
    part.keeps = std::move(keeps);
  }
};

class Gets : public Requests {
 public:
  template <class T, std::size_t N>
  void add(Box box, std::span<T, N> data, ByteOrder order = ByteOrder::native) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    Requests::add(std::move(box), sizeof(T), data.size(), order).memory = data.data();
  }
  void add(Box box, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
           std::unique_ptr<Stager> stager) {
    Requests::add(std::move(box), element_bytes, extents).stager = std::move(stager);
  }
  void add(Box box, std::int64_t element_bytes, const std::vector<std::int64_t>& extents, void* memory,
           ByteOrder order, std::shared_ptr<const void> keeps) {
    Part& part = Requests::add(std::move(box), element_bytes, extents);
    part.memory = memory;
    part.swap = swaps(order) && element_bytes > 1;
    part.keeps = std::move(keeps);
  }
};

/// An open file. `_all` functions, flush, sync, set_size and close are collective: called by all ranks in the
/// same order, and what one of them cannot do, all throw. The others need no other rank.
class File {
 public:
  /// Collective. `flags`: FOREBAY_RDONLY, FOREBAY_WRONLY or FOREBAY_RDWR, and FOREBAY_CREATE, FOREBAY_EXCL,
  /// FOREBAY_TRUNC; the same on all ranks. `info` may hold hints.
  File(MPI_Comm comm, const std::string& path, int flags, MPI_Info info = MPI_INFO_NULL)
      : path_(path), exceptions_(std::uncaught_exceptions()) {
    check(forebay_open(comm, path.c_str(), flags, info, &file_));
  }
  File(File&& other) noexcept { *this = std::move(other); }
  File& operator=(File&& other) noexcept {
    if (this == &other) return *this;
    close_quietly();
    file_ = std::exchange(other.file_, FOREBAY_FILE_NULL);
    path_ = std::move(other.path_);
    exceptions_ = std::uncaught_exceptions();
    return *this;
  }
  /// Closes, as close() does, but a failure is only printed. Where an exception passes by, which may be this
  /// rank's alone, it does not close, since the others might never come: what is kept is written when the
  /// process ends.
  ~File() { close_quietly(); }

  bool is_open() const noexcept { return file_ != FOREBAY_FILE_NULL; }
  const std::string& path() const noexcept { return path_; }

  /// Memory may be used again when they return. In the file after flush, sync or close, and in strict mode
  /// when they return. Where boxes of one rank's call overlap, later ones win.
  void put_all(Puts& puts) {
    puts.call([&](const forebay_request* r, std::int64_t n) { return forebay_put_all(file_, r, n); });
  }
  void put(Puts& puts) {
    puts.call([&](const forebay_request* r, std::int64_t n) { return forebay_put(file_, r, n); });
  }
  /// Zeros past the end of the file. get_all sees what any rank put before; get what this rank put, and what
  /// others put before a flush.
  void get_all(Gets& gets) {
    gets.call([&](const forebay_request* r, std::int64_t n) { return forebay_get_all(file_, r, n); });
  }
  void get(Gets& gets) {
    gets.call([&](const forebay_request* r, std::int64_t n) { return forebay_get(file_, r, n); });
  }

  // The same for one box.
  template <class T, std::size_t N>
  void put_all(Box box, std::span<T, N> data, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(std::move(box), data, order);
    put_all(puts);
  }
  template <class T, std::size_t N>
  void put(Box box, std::span<T, N> data, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(std::move(box), data, order);
    put(puts);
  }
  template <class T, std::size_t N>
  void get_all(Box box, std::span<T, N> data, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(std::move(box), data, order);
    get_all(gets);
  }
  template <class T, std::size_t N>
  void get(Box box, std::span<T, N> data, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(std::move(box), data, order);
    get(gets);
  }

  /// What any rank put is in the file, and seen by all; what could not be written is kept for the next try.
  void flush() { check(forebay_flush(file_)); }
  /// The same, and on stable storage.
  void sync() { check(forebay_sync(file_)); }
  /// In bytes, with what this rank put.
  std::int64_t size() const {
    std::int64_t bytes = 0;
    check(forebay_size(file_, &bytes));
    return bytes;
  }
  void set_size(std::int64_t bytes) { check(forebay_set_size(file_, bytes)); }
  /// Closes in any case; what could not be written is lost then, and told.
  void close() { check(forebay_close(&file_)); }

 private:
  static void check(int code) {
    if (code != FOREBAY_SUCCESS) throw Error(code, forebay_last_error());
  }
  void close_quietly() noexcept {
    if (file_ == FOREBAY_FILE_NULL) return;
    if (std::uncaught_exceptions() > exceptions_) {
      std::fprintf(stderr, "forebay: %s is not closed, since an exception passed by\n", path_.c_str());
    } else if (forebay_close(&file_) != FOREBAY_SUCCESS) {
      std::fprintf(stderr, "forebay: %s\n", forebay_last_error());
    }
    file_ = FOREBAY_FILE_NULL;
  }

  forebay_file file_ = FOREBAY_FILE_NULL;
  std::string path_;
  int exceptions_ = 0;
};

}  // namespace forebay

#endif  // FOREBAY_FILE_HPP
