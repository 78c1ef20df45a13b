// What every library does with an open file, as the player sees it: arrays that are put and got by boxes.
// Each library has its own in a file of its own; ways that change nothing in the model are drawn from `way`,
// the same on all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model.hpp"
#include "team.hpp"

namespace mixed {

enum class Kind { hdf5, pnetcdf, tcio, boxes, mpiio };
const char* name_of(Kind kind);
/// Plain bytes, which any of the last three libraries may open.
inline bool is_raw(Kind kind) {
  return kind == Kind::tcio || kind == Kind::boxes || kind == Kind::mpiio;
}

struct Opening {
  const Team& team;
  std::string path;
  bool create = false;  ///< and emptied, but raw files
  bool writable = true;
  bool expect_forebay = false;
  bool threads = false;  ///< other threads use other files meanwhile
  std::string hints;  ///< for MPI_Info
  std::uint64_t way = 0;
};

/// What a read has to bring, and brought.
class Reading {
 public:
  Reading(const Array& array, const std::vector<std::size_t>& cells, std::string what);
  void* memory() { return got_.data(); }
  std::byte* bytes() { return got_.data(); }
  std::size_t size() const { return got_.size(); }
  void check(bool big) const;

 private:
  std::string what_;
  int element_;
  std::vector<std::byte> got_;
  std::vector<std::size_t> cells_;
  std::vector<Cell> want_;
};

/// What is put into these cells.
std::vector<std::byte> data_of(const std::vector<std::size_t>& cells, int bytes, bool big, std::uint64_t id);
/// The cells of all boxes, ascending; and pieces that are contiguous.
std::vector<std::size_t> cells_of(const Array& array, const std::vector<Box>& boxes);
std::vector<Piece> pieces_of(const std::vector<std::size_t>& cells);

class OpenFile {
 public:
  virtual ~OpenFile() = default;

  /// Collective. New arrays.
  virtual void define(const std::vector<Array*>&, std::uint64_t /*way*/) {}
  virtual void remove(Array&) {}
  virtual void extend(Array&, int64_t /*first*/) {}
  virtual void annotate(int /*number*/, int /*value*/) {}
  virtual void set_size(int64_t /*bytes*/) {}
  /// At least so many bytes are there.
  virtual void check_size(int64_t /*bytes*/) {}

  /// By all ranks; collective where access.together.
  virtual void put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) = 0;
  virtual void get(Array& array, const Access& access, std::uint64_t way) = 0;

  /// Requests that stay pending until wait().
  virtual void post_put(Array&, const Access&, std::uint64_t /*id*/, std::uint64_t /*way*/) {}
  virtual void post_get(Array&, const Access&, std::uint64_t /*way*/) {}
  virtual void wait(bool /*together*/, std::uint64_t /*way*/) {}
  virtual void set_independent(bool /*on*/) {}

  /// Collective. Afterwards all ranks see all that was put, and may change it.
  virtual void meet(std::uint64_t way) = 0;
  /// Collective. Notes where the arrays' cells lie, and closes.
  virtual void close(std::vector<std::unique_ptr<Array>>& arrays) = 0;
};

std::unique_ptr<OpenFile> open_hdf5(const Opening& opening);
std::unique_ptr<OpenFile> open_pnetcdf(const Opening& opening);
std::unique_ptr<OpenFile> open_tcio(const Opening& opening);
std::unique_ptr<OpenFile> open_boxes(const Opening& opening);
std::unique_ptr<OpenFile> open_mpiio(const Opening& opening);
std::unique_ptr<OpenFile> open_file(Kind kind, const Opening& opening);

/// An MPI_Info of "key=value;key=value", freed at the end.
class Info {
 public:
  explicit Info(const std::string& hints);
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Raw files: cells lie where the array's offset says.
void note_raw_places(std::vector<std::unique_ptr<Array>>& arrays);

}  // namespace mixed
