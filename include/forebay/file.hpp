/** @file
 * Forebay's own file in C++: boxes of n-dimensional arrays and lists of pieces, put from and got into any
 * contiguous memory, by all ranks together or by each for itself, at once or later. Header only, over the C
 * functions of forebay/file.h. */
#ifndef FOREBAY_FILE_HPP
#define FOREBAY_FILE_HPP

#include <forebay/file.h>
#include <forebay/hints.hpp>
#include <forebay/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay {

/** A box of an array that lies row-major in the file. Lists that are empty mean what is usual: `start` the
 * beginning, `stride` 1, `count` the extents of what is put or got, and `shape` the same, an array that is
 * put or got whole. */
struct Box {
  std::int64_t offset = 0;             ///< of the array's first byte in the file
  std::vector<std::int64_t> shape{};   ///< extents of the array, the slowest first
  std::vector<std::int64_t> start{};   ///< the box's first element in each dimension
  std::vector<std::int64_t> count{};   ///< elements in each dimension
  std::vector<std::int64_t> stride{};  ///< from one to the next, in elements of the array
};

/** A list of pieces: lengths[i] elements from element offsets[i] on, counted from byte `offset` of the file.
 * Elements are those of the memory that is put or got; the memory follows the list. Pieces come in any order
 * and may overlap; of a put, later ones win. An ascending list is the fastest. The lists are not copied: they
 * must stay until the call, or of iput and iget the wait, returns. */
struct Pieces {
  /** `item_lengths` may be left out: one element each. */
  Pieces(std::span<const std::int64_t> item_offsets, std::span<const std::int64_t> item_lengths = {},
         std::int64_t file_offset = 0)
      : offsets(item_offsets), lengths(item_lengths), offset(file_offset) {}

  std::span<const std::int64_t> offsets;  ///< of the pieces, in elements
  std::span<const std::int64_t> lengths;  ///< as many, in elements; or none
  std::int64_t offset;                    ///< of element 0, in bytes
};

/** Where a request lies in the file. */
struct Place {
  /** A box. */
  Place(Box where) : box(std::move(where)) {}
  /** A list of pieces. */
  Place(Pieces where) : pieces(where) {}

  Box box{};                       ///< where there are no pieces
  std::optional<Pieces> pieces{};  ///< a list
};

/** Fills (for a put) or takes (from a get) pieces of a request's stream: its elements in file form, in the
 * order of its box or list. begin() may start the work and return; finish() of that slot waits for it. What
 * they throw, the call on this rank throws; the others throw Error. They may not use the file. */
class Stager {
 public:
  virtual ~Stager() = default;
  /** Staging memory for one call, aligned for the elements; taken back by release(). */
  virtual void* reserve(std::int64_t bytes) = 0;
  /** The call needs the memory no more. */
  virtual void release() noexcept = 0;
  /** Bytes [first, first + bytes) of the stream, whole elements, at `memory`, which is a place in the slot.
   * Pieces ascend for a box and an ascending list, but a piece of a put may be asked for again. */
  virtual void begin(int slot, std::int64_t first, std::int64_t bytes, void* memory) = 0;
  /** Waits for what was begun in this slot. */
  virtual void finish(int slot) = 0;
};

/** How a type of memory is put and got: specialize it for a type of your own, as forebay/kokkos.hpp does for
 * Kokkos views. A specialization has `add(Puts&, Place, memory, ByteOrder)` and `add(Gets&, …)`, which add
 * requests, and `is_handle`: whether an object refers to memory that outlives it, so that a temporary may be
 * given where memory has to stay. */
template <class T>
struct Memory;

class Puts;
class Gets;

/** What can be put. */
template <class T>
concept Puttable = requires(Puts& puts, Place place, const T& memory) {
  Memory<std::remove_cvref_t<T>>::add(puts, place, memory, ByteOrder::native);
};
/** What can be got into; T is deduced as of a forwarding reference. */
template <class T>
concept Gettable = requires(Gets& gets, Place place, T&& memory) {
  Memory<std::remove_cvref_t<T>>::add(gets, place, memory, ByteOrder::native);
};
/** Memory that stays when the object goes, or an object that stays itself. */
template <class T>
concept Staying = std::is_lvalue_reference_v<T> || Memory<std::remove_cvref_t<T>>::is_handle;

/// @cond INTERNAL
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
/// @endcond

/** Requests for one call, which puts or gets them together. They refer to memory, which must stay until then;
 * what is wrong with a request, the call throws. May be used again. */
class Requests {
 public:
  /** What a call may use of staging memory; where requests are many, each has 64 KiB all the same. */
  void staging_bytes(std::int64_t bytes) { staging_bytes_ = bytes; }
  /** Whether there is none. */
  bool empty() const { return parts_.empty(); }
  /** How many there are. */
  std::size_t size() const { return parts_.size(); }
  /** Forgets all of them. */
  void clear() { parts_.clear(); }
  /** Adds a request that cannot be made: the call throws with this reason, on all ranks where it is
   * collective. */
  void refuse(std::string reason) { parts_.emplace_back().refused = std::move(reason); }

 protected:
  /// @cond INTERNAL
  struct Part {
    Box box{};
    std::optional<Pieces> pieces{};
    std::int64_t element_bytes = 0;
    std::int64_t elements = 0;
    void* memory = nullptr;
    bool swap = false;
    std::shared_ptr<const void> keeps{};  // alive, what memory belongs to
    std::unique_ptr<Stager> stager{};
    std::string refused{};
    bool first = false;  // of those that one iput or iget noted
    // of a call
    std::exception_ptr thrown{};
    forebay_stage stage{};
  };

  /// Completes the place by the extents of what is in memory.
  Part& add(Place place, std::int64_t element_bytes, const std::vector<std::int64_t>& extents) {
    Part& part = parts_.emplace_back();
    part.element_bytes = element_bytes;
    part.elements = detail::product(extents);
    if (place.pieces) {
      check_list(part, *place.pieces);
    } else {
      complete_box(part, std::move(place.box), extents);
    }
    return part;
  }
  /// Of a range: any number of dimensions, as many elements.
  Part& add_range(Place place, std::int64_t element_bytes, std::size_t elements, ByteOrder order) {
    const auto n = static_cast<std::int64_t>(elements);
    const Box& box = place.box;
    std::vector<std::int64_t> extents = box.count.empty() ? box.shape : box.count;
    if (place.pieces || (box.count.empty() && box.shape.size() < 2)) extents.assign(1, n);
    const bool fits = detail::product(extents) == n;
    Part& part = add(std::move(place), element_bytes, extents);
    if (!fits && part.refused.empty())
      part.refused = "a box of " + detail::text(extents) + " elements, and memory of " + std::to_string(n);
    part.swap = swaps(order) && element_bytes > 1;
    return part;
  }
  /// @endcond

 private:
  friend class File;

  static void check_list(Part& part, const Pieces& pieces) {
    part.pieces = pieces;
    if (!pieces.lengths.empty() && pieces.lengths.size() != pieces.offsets.size()) {
      part.refused = std::to_string(pieces.offsets.size()) + " offsets and " +
                     std::to_string(pieces.lengths.size()) + " lengths";
      return;
    }
    // The library checks each; here, only that the memory is as long. Unsigned: it may overflow.
    auto elements = static_cast<std::uint64_t>(pieces.lengths.empty() ? pieces.offsets.size() : 0);
    for (const std::int64_t length : pieces.lengths) {
      if (length < 0) return;
      elements += static_cast<std::uint64_t>(length);
    }
    if (elements != static_cast<std::uint64_t>(part.elements))
      part.refused = "a list of " + std::to_string(elements) + " elements, and memory of " +
                     std::to_string(part.elements);
  }

  static void complete_box(Part& part, Box box, const std::vector<std::int64_t>& extents) {
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
  }

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

  /// What the C functions take. `this` must outlive it.
  std::vector<forebay_request> begin_call() {
    std::int64_t staged = 0;
    for (const Part& part : parts_) staged += part.stager ? 1 : 0;
    std::vector<forebay_request> list;
    list.reserve(parts_.size());
    for (Part& part : parts_) list.push_back(request(part, staged));
    return list;
  }
  /// What a stager threw, if one did.
  std::exception_ptr end_call() noexcept {
    std::exception_ptr thrown;
    for (Part& part : parts_) {
      if (part.stager) part.stager->release();
      if (!thrown) thrown = part.thrown;
      part.thrown = nullptr;
      part.stage = {};
    }
    return thrown;
  }
  /// Calls f(requests, n), and throws what a stager threw, or what the call says.
  template <class Call>
  void call(Call&& f) {
    const std::vector<forebay_request> list = begin_call();
    const int code = f(list.data(), static_cast<std::int64_t>(list.size()));
    if (const std::exception_ptr thrown = end_call()) std::rethrow_exception(thrown);
    detail::check(code);
  }
  /// Adds those of `other`, which has none then.
  void take_over(Requests&& other) {
    if (!other.parts_.empty()) other.parts_.front().first = true;
    for (Part& part : other.parts_) parts_.push_back(std::move(part));
    other.parts_.clear();
    staging_bytes_ = std::max(staging_bytes_, other.staging_bytes_);
  }

  forebay_request request(Part& part, std::int64_t staged) {
    forebay_request r{};
    const auto list = [](const auto& v) { return v.empty() ? nullptr : v.data(); };
    r.size = sizeof r;
    r.element_bytes = part.element_bytes;
    r.swap = part.swap ? 1 : 0;
    if (part.pieces) {
      r.ndims = FOREBAY_PIECES;
      r.offset = part.pieces->offset;
      r.pieces = static_cast<std::int64_t>(part.pieces->offsets.size());
      r.offsets = list(part.pieces->offsets);
      r.lengths = list(part.pieces->lengths);
    } else {
      r.offset = part.box.offset;
      r.ndims = static_cast<int>(part.box.shape.size());
      r.shape = list(part.box.shape);
      r.start = list(part.box.start);
      r.count = list(part.box.count);
      r.stride = list(part.box.stride);
    }
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
    const std::int64_t elements = part.elements;
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

/** A list of puts for one call. */
class Puts : public Requests {
 public:
  /** Adds memory, which must stay: a range, or what Memory is specialized for. */
  template <Puttable T>
    requires Staying<T>
  void add(Box box, T&& memory, ByteOrder order = ByteOrder::native) {
    Memory<std::remove_cvref_t<T>>::add(*this, Place(std::move(box)), memory, order);
  }
  /** Adds memory for a list of pieces. */
  template <Puttable T>
    requires Staying<T>
  void add(Pieces pieces, T&& memory, ByteOrder order = ByteOrder::native) {
    Memory<std::remove_cvref_t<T>>::add(*this, Place(pieces), memory, order);
  }
  /** Adds elements that a stager brings. */
  void add(Place place, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
           std::unique_ptr<Stager> stager) {
    Requests::add(std::move(place), element_bytes, extents).stager = std::move(stager);
  }
  /** Adds elements at `memory`, which `keeps`, if it is not null, keeps alive. */
  void add(Place place, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
           const void* memory, ByteOrder order, std::shared_ptr<const void> keeps) {
    Part& part = Requests::add(std::move(place), element_bytes, extents);
    part.memory = const_cast<void*>(memory);  // a put does not write it
    part.swap = swaps(order) && element_bytes > 1;
    part.keeps = std::move(keeps);
  }

 private:
  template <class T>
  friend struct Memory;
};

/** A list of gets for one call. */
class Gets : public Requests {
 public:
  /** Adds memory to be filled, which must stay. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void add(Box box, T&& memory, ByteOrder order = ByteOrder::native) {
    Memory<std::remove_cvref_t<T>>::add(*this, Place(std::move(box)), memory, order);
  }
  /** Adds memory to be filled from a list of pieces. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void add(Pieces pieces, T&& memory, ByteOrder order = ByteOrder::native) {
    Memory<std::remove_cvref_t<T>>::add(*this, Place(pieces), memory, order);
  }
  /** Adds elements that a stager takes. */
  void add(Place place, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
           std::unique_ptr<Stager> stager) {
    Requests::add(std::move(place), element_bytes, extents).stager = std::move(stager);
  }
  /** Adds elements to `memory`, which `keeps`, if it is not null, keeps alive. */
  void add(Place place, std::int64_t element_bytes, const std::vector<std::int64_t>& extents, void* memory,
           ByteOrder order, std::shared_ptr<const void> keeps) {
    Part& part = Requests::add(std::move(place), element_bytes, extents);
    part.memory = memory;
    part.swap = swaps(order) && element_bytes > 1;
    part.keeps = std::move(keeps);
  }

 private:
  template <class T>
  friend struct Memory;
};

/** Contiguous ranges. */
template <Elements R>
struct Memory<R> {
  /** std::span and other views refer to memory of others. */
  static constexpr bool is_handle = std::ranges::borrowed_range<R>;
  /** Adds all elements. */
  static void add(Puts& puts, Place place, const R& range, ByteOrder order) {
    puts.add_range(std::move(place), kBytes, std::ranges::size(range), order).memory =
        const_cast<void*>(static_cast<const void*>(std::ranges::data(range)));  // a put does not write it
  }
  /** Adds all elements, to be filled. */
  template <FillableElements Q>
  static void add(Gets& gets, Place place, Q& range, ByteOrder order) {
    gets.add_range(std::move(place), kBytes, std::ranges::size(range), order).memory =
        std::ranges::data(range);
  }

 private:
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(std::ranges::range_value_t<R>));
};

/** An open file. Constructor, `_all` functions, flush, sync, set_size and close are collective: called by all
 * ranks in the same order, and what one of them cannot do, all throw. The others need no other rank.
 *
 * What is put or got is a Box or Pieces of the file, and memory: any contiguous range of elements that are
 * their bytes (std::vector, std::span, …), or what Memory is specialized for, such as Kokkos views. */
class File {
 public:
  /** Opens a file; path and mode are the same on all ranks. */
  File(MPI_Comm comm, const std::string& path, Mode mode, const Hints& hints = {})
      : File(comm, path, mode, static_cast<MPI_Info>(hints.info())) {}
  /** Opens a file with hints of an MPI_Info. */
  File(MPI_Comm comm, const std::string& path, Mode mode, MPI_Info info)
      : path_(path), exceptions_(std::uncaught_exceptions()) {
    detail::check(forebay_open(comm, path.c_str(), static_cast<int>(mode), info, &file_));
  }
  /** `other` is not open afterwards. */
  File(File&& other) noexcept { *this = std::move(other); }
  /** Closes as the destructor does, and takes over what `other` has open. */
  File& operator=(File&& other) noexcept {
    if (this == &other) return *this;
    close_quietly();
    file_ = std::exchange(other.file_, FOREBAY_FILE_NULL);
    path_ = std::move(other.path_);
    pending_puts_ = std::move(other.pending_puts_);
    pending_gets_ = std::move(other.pending_gets_);
    exceptions_ = std::uncaught_exceptions();
    return *this;
  }
  /** Closes, as close() does, and only prints a failure. Where an exception passes by, which may be this
   * rank's alone, it does not close, since the others might never come: what is kept is written when the
   * process ends, and what is pending is not. */
  ~File() { close_quietly(); }

  /** Whether it has been opened and not closed. */
  bool is_open() const noexcept { return file_ != FOREBAY_FILE_NULL; }
  /** As it was given. */
  const std::string& path() const noexcept { return path_; }
  /** The file for the C functions. */
  forebay_file handle() const noexcept { return file_; }

  // ---- several requests, one call ----

  /** Puts a list. Memory may be used again when it returns. The bytes are in the file after flush, sync or
   * close, and in strict mode when it returns. Where requests of one rank's call overlap, later ones win. */
  void put_all(Puts& puts) {
    puts.call([&](const forebay_request* r, std::int64_t n) { return forebay_put_all(file_, r, n); });
  }
  /** Puts a list, for this rank alone. */
  void put(Puts& puts) {
    puts.call([&](const forebay_request* r, std::int64_t n) { return forebay_put(file_, r, n); });
  }
  /** Gets a list, and sees what any rank put before. Zeros past the end of the file. */
  void get_all(Gets& gets) {
    gets.call([&](const forebay_request* r, std::int64_t n) { return forebay_get_all(file_, r, n); });
  }
  /** Gets a list, for this rank alone, and sees what it put, and what others put before a flush. */
  void get(Gets& gets) {
    gets.call([&](const forebay_request* r, std::int64_t n) { return forebay_get(file_, r, n); });
  }
  /** Notes a list to be put by the next wait_all, wait, flush, sync, set_size or close, in the order of such
   * calls. Memory and lists of Pieces must stay until then. What is wrong, that call throws. */
  void iput(Puts puts) {
    detail::check(forebay_iput(file_, nullptr, 0));
    pending_puts_.take_over(std::move(puts));
  }
  /** Notes a list to be got by the next wait_all, wait, flush, sync, set_size or close. */
  void iget(Gets gets) {
    detail::check(forebay_iget(file_, nullptr, 0));
    pending_gets_.take_over(std::move(gets));
  }

  // ---- one request ----

  /** Puts memory to a box, together with all ranks. */
  template <class T>
    requires Puttable<T>
  void put_all(Box box, const T& memory, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(std::move(box), memory, order);
    put_all(puts);
  }
  /** Puts memory to a list of pieces, together with all ranks. */
  template <class T>
    requires Puttable<T>
  void put_all(Pieces pieces, const T& memory, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(pieces, memory, order);
    put_all(puts);
  }
  /** Puts memory to a box. */
  template <class T>
    requires Puttable<T>
  void put(Box box, const T& memory, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(std::move(box), memory, order);
    put(puts);
  }
  /** Puts memory to a list of pieces. */
  template <class T>
    requires Puttable<T>
  void put(Pieces pieces, const T& memory, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(pieces, memory, order);
    put(puts);
  }
  /** Notes memory to be put to a box; it must stay. */
  template <class T>
    requires Puttable<T> && Staying<T>
  void iput(Box box, T&& memory, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(std::move(box), memory, order);
    iput(std::move(puts));
  }
  /** Notes memory to be put to a list of pieces; it must stay. */
  template <class T>
    requires Puttable<T> && Staying<T>
  void iput(Pieces pieces, T&& memory, ByteOrder order = ByteOrder::native) {
    Puts puts;
    puts.add(pieces, memory, order);
    iput(std::move(puts));
  }
  /** Gets a box into memory, together with all ranks. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void get_all(Box box, T&& memory, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(std::move(box), memory, order);
    get_all(gets);
  }
  /** Gets a list of pieces into memory, together with all ranks. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void get_all(Pieces pieces, T&& memory, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(pieces, memory, order);
    get_all(gets);
  }
  /** Gets a box into memory. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void get(Box box, T&& memory, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(std::move(box), memory, order);
    get(gets);
  }
  /** Gets a list of pieces into memory. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void get(Pieces pieces, T&& memory, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(pieces, memory, order);
    get(gets);
  }
  /** Notes memory to be filled from a box; it must stay. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void iget(Box box, T&& memory, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(std::move(box), memory, order);
    iget(std::move(gets));
  }
  /** Notes memory to be filled from a list of pieces; it must stay. */
  template <class T>
    requires Gettable<T> && Staying<T>
  void iget(Pieces pieces, T&& memory, ByteOrder order = ByteOrder::native) {
    Gets gets;
    gets.add(pieces, memory, order);
    iget(std::move(gets));
  }
  // ---- what is pending, and the file ----

  /** Completes what is pending on all ranks: all puts together, then all gets, which see these puts.
   * Collective. Nothing is pending afterwards, also where it throws. */
  void wait_all() {
    complete([this] { return forebay_wait_all(file_); });
  }
  /** Completes what is pending on this rank. */
  void wait() {
    complete([this] { return forebay_wait(file_); });
  }
  /** Brings what any rank put into the file, where all see it; what could not be written is kept for the next
   * try. Collective. */
  void flush() {
    complete([this] { return forebay_flush(file_); });
  }
  /** Does what flush() does, and brings it on stable storage. Collective. */
  void sync() {
    complete([this] { return forebay_sync(file_); });
  }
  /** In bytes, with what this rank put. */
  std::int64_t size() const {
    std::int64_t bytes = 0;
    detail::check(forebay_size(file_, &bytes));
    return bytes;
  }
  /** Cuts the file, or extends it with zeros. Collective. */
  void set_size(std::int64_t bytes) {
    complete([&] { return forebay_set_size(file_, bytes); });
  }
  /** Closes in any case; what could not be written is lost then, and told. Collective. */
  void close() {
    complete([this] { return forebay_close(&file_); });
  }

 private:
  /// Hands what is pending to the library, has it completed, and throws what went wrong.
  template <class Call>
  void complete(Call&& call) {
    if (pending_puts_.empty() && pending_gets_.empty()) return detail::check(call());
    hand_over(pending_puts_, &forebay_iput);
    hand_over(pending_gets_, &forebay_iget);
    const int code = call();
    std::exception_ptr thrown = pending_puts_.end_call();
    const std::exception_ptr of_gets = pending_gets_.end_call();
    if (!thrown) thrown = of_gets;
    pending_puts_.clear();
    pending_gets_.clear();
    if (thrown) std::rethrow_exception(thrown);
    detail::check(code);
  }
  // The completing call says what is wrong, since other ranks may wait there.
  void hand_over(Requests& requests, int (*note)(forebay_file, const forebay_request*, std::int64_t)) {
    try {
      const std::vector<forebay_request> list = requests.begin_call();
      for (std::size_t begin = 0, end = 1; end <= list.size(); ++end) {
        if (end < list.size() && !requests.parts_[end].first) continue;
        (void)note(file_, list.data() + begin, static_cast<std::int64_t>(end - begin));
        begin = end;
      }
    } catch (const std::bad_alloc&) {
      forebay_request none{};
      none.size = sizeof none;
      none.refused = "no memory for the requests";
      (void)note(file_, &none, 1);
    }
  }
  void close_quietly() noexcept {
    detail::close_quietly(is_open(), exceptions_, path_, [this] { close(); });
    file_ = FOREBAY_FILE_NULL;
    pending_puts_.clear();
    pending_gets_.clear();
  }

  forebay_file file_ = FOREBAY_FILE_NULL;
  std::string path_;
  Puts pending_puts_;
  Gets pending_gets_;
  int exceptions_ = 0;
};

}  // namespace forebay

#endif  // FOREBAY_FILE_HPP
