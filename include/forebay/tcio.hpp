/** @file
 * TCIO in C++: a file that all ranks write and read piece by piece, each at any place and in as many calls as
 * it likes. Header only, over the C functions of forebay/tcio.h. */
#ifndef FOREBAY_TCIO_HPP
#define FOREBAY_TCIO_HPP

#include <forebay/tcio.h>
#include <forebay/hints.hpp>
#include <forebay/status.hpp>

#include <cstdint>
#include <exception>
#include <ranges>
#include <string>
#include <utility>

namespace forebay {

/** An open TCIO file. Constructor, fetch_all, flush, sync, set_size and close are collective: called by all
 * ranks in the same order, and what one of them cannot do, all throw. The others need no other rank. */
class Tcio {
 public:
  /** What seek() counts from. */
  enum class From {
    begin = SEEK_SET,    ///< the beginning of the file
    current = SEEK_CUR,  ///< the file pointer
    end = SEEK_END       ///< the end, with what this rank wrote
  };

  /** Opens a file; path and mode are the same on all ranks. */
  Tcio(MPI_Comm comm, const std::string& path, Mode mode, const Hints& hints = {})
      : Tcio(comm, path, mode, static_cast<MPI_Info>(hints.info())) {}
  /** Opens a file with hints of an MPI_Info. */
  Tcio(MPI_Comm comm, const std::string& path, Mode mode, MPI_Info info)
      : path_(path), exceptions_(std::uncaught_exceptions()) {
    detail::check(tcio_open(comm, path.c_str(), static_cast<int>(mode), info, &file_));
  }
  /** `other` is not open afterwards. */
  Tcio(Tcio&& other) noexcept { *this = std::move(other); }
  /** Closes as the destructor does, and takes over what `other` has open. */
  Tcio& operator=(Tcio&& other) noexcept {
    if (this == &other) return *this;
    close_quietly();
    file_ = std::exchange(other.file_, TCIO_FILE_NULL);
    path_ = std::move(other.path_);
    exceptions_ = std::uncaught_exceptions();
    return *this;
  }
  /** Closes, as close() does, and only prints a failure. Where an exception passes by, which may be this
   * rank's alone, it does not close, since the others might never come: what is buffered is written when the
   * process ends. */
  ~Tcio() { close_quietly(); }

  /** Whether it has been opened and not closed. */
  bool is_open() const noexcept { return file_ != TCIO_FILE_NULL; }
  /** As it was given. */
  const std::string& path() const noexcept { return path_; }
  /** The file for the C functions. */
  tcio_file handle() const noexcept { return file_; }

  /** Writes all elements at byte `offset`. `data` may be used again when it returns. */
  template <Elements R>
  void write_at(std::int64_t offset, const R& data) {
    detail::check(tcio_write_at(file_, offset, std::ranges::data(data), bytes(data)));
  }
  /** Writes all elements at the file pointer, which moves behind them. */
  template <Elements R>
  void write(const R& data) {
    detail::check(tcio_write(file_, std::ranges::data(data), bytes(data)));
  }
  /** Reads all elements from byte `offset`, lazily: `data` is filled at the latest by fetch, fetch_all,
   * flush, sync, set_size or close, and must stay until then. */
  template <FillableElements R>
    requires std::ranges::borrowed_range<R>
  void read_at(std::int64_t offset, R&& data) {
    detail::check(tcio_read_at(file_, offset, std::ranges::data(data), bytes(data)));
  }
  /** Reads all elements from the file pointer, which moves behind them, lazily. */
  template <FillableElements R>
    requires std::ranges::borrowed_range<R>
  void read(R&& data) {
    detail::check(tcio_read(file_, std::ranges::data(data), bytes(data)));
  }

  /** Fills this rank's pending reads. */
  void fetch() { detail::check(tcio_fetch(file_)); }
  /** Fills all ranks' pending reads together; they see what any rank wrote before it. Collective. */
  void fetch_all() { detail::check(tcio_fetch_all(file_)); }
  /** Brings what any rank wrote into the file, where all see it. Collective. */
  void flush() { detail::check(tcio_flush(file_)); }
  /** Does what flush() does, and brings it on stable storage. Collective. */
  void sync() { detail::check(tcio_sync(file_)); }

  /** Moves the file pointer of this rank. It may lie behind the end. */
  void seek(std::int64_t offset, From from = From::begin) {
    detail::check(tcio_seek(file_, offset, static_cast<int>(from)));
  }
  /** Where the file pointer of this rank is, in bytes. */
  std::int64_t tell() const {
    std::int64_t offset = 0;
    detail::check(tcio_tell(file_, &offset));
    return offset;
  }
  /** In bytes, with what this rank wrote. */
  std::int64_t size() const {
    std::int64_t bytes = 0;
    detail::check(tcio_size(file_, &bytes));
    return bytes;
  }
  /** Cuts the file, or extends it with zeros. Collective. */
  void set_size(std::int64_t bytes) { detail::check(tcio_set_size(file_, bytes)); }
  /** Closes in any case; what could not be written is lost then, and told. Collective. */
  void close() { detail::check(tcio_close(&file_)); }

 private:
  template <class R>
  static std::int64_t bytes(const R& data) {
    return static_cast<std::int64_t>(std::ranges::size(data) * sizeof(std::ranges::range_value_t<R>));
  }
  void close_quietly() noexcept {
    detail::close_quietly(is_open(), exceptions_, path_, [this] { close(); });
    file_ = TCIO_FILE_NULL;
  }

  tcio_file file_ = TCIO_FILE_NULL;
  std::string path_;
  int exceptions_ = 0;
};

}  // namespace forebay

#endif  // FOREBAY_TCIO_HPP
