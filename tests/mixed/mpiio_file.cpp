// A file by the program's own MPI-IO, next to those of Forebay: collective calls with views, independent ones
// at offsets, blocking or not.
#include <unistd.h>

#include <mpi.h>

#include "open_file.hpp"
#include "standing.hpp"

namespace mixed {
namespace {

void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(std::string("MPI_File_") + what + ": " + text);
}

class MpiioFile : public OpenFile {
 public:
  explicit MpiioFile(const Opening& opening) : team_(opening.team), threads_(opening.threads) {
    const Info info(opening.hints);
    const int mode =
        opening.writable ? MPI_MODE_RDWR | (opening.create ? MPI_MODE_CREATE : 0) : MPI_MODE_RDONLY;
    must(MPI_File_open(team_.comm(), opening.path.c_str(), mode, info, &file_), "open");
  }

  void put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) override {
    const std::vector<std::size_t> cells = mine(array, access);
    std::vector<std::byte> data = data_of(cells, array.bytes, array.big, id);
    move(
        array, access, cells, data.data(), way,
        [&](MPI_Offset at, std::byte* from, int bytes, MPI_Request* request) {
          return request == nullptr ? MPI_File_write_at(file_, at, from, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                                    : MPI_File_iwrite_at(file_, at, from, bytes, MPI_BYTE, request);
        },
        [&](std::byte* from, int bytes) {
          return MPI_File_write_all(file_, from, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        });
  }

  void get(Array& array, const Access& access, std::uint64_t way) override {
    const std::vector<std::size_t> cells = mine(array, access);
    Reading reading(array, cells, access.together ? "MPI-IO's collective read" : "MPI-IO's read");
    move(
        array, access, cells, reading.bytes(), way,
        [&](MPI_Offset at, std::byte* to, int bytes, MPI_Request*) {
          return MPI_File_read_at(file_, at, to, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        },
        [&](std::byte* to, int bytes) {
          return MPI_File_read_all(file_, to, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        });
    reading.check(array.big);
  }

  void set_size(int64_t bytes) override {
    team_.meet();
    must(MPI_File_set_size(file_, bytes), "set_size");
    team_.meet();
  }
  // OMPIO refuses, before it meets the other ranks, while anything is pending of whatever file: also what
  // another thread's collective call has on its way.
  void sync() {
    int error = MPI_File_sync(file_);
    for (int i = 0; threads_ && error != MPI_SUCCESS && i < 10000; ++i) {
      ::usleep(100);
      error = MPI_File_sync(file_);
    }
    must(error, "sync");
  }
  void meet(std::uint64_t way) override {
    if (way % 4 == 0) sync();
    team_.meet();
    if (way % 4 == 0) sync();
  }
  void close(std::vector<std::unique_ptr<Array>>& arrays) override {
    must(MPI_File_close(&file_), "close");
    note_raw_places(arrays);
  }

 private:
  std::vector<std::size_t> mine(const Array& array, const Access& access) const {
    return cells_of(array, access.boxes[static_cast<std::size_t>(team_.me())]);
  }

  template <class Piecewise, class Whole>
  void move(const Array& array, const Access& access, const std::vector<std::size_t>& cells,
            std::byte* memory, std::uint64_t way, Piecewise&& piecewise, Whole&& whole) {
    const std::vector<Piece> pieces = pieces_of(cells);
    if (access.together) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      std::vector<int> lengths;
      std::vector<MPI_Aint> places;
      for (const Piece& piece : pieces) {
        lengths.push_back(static_cast<int>(piece.length) * array.bytes);
        places.push_back(static_cast<MPI_Aint>(piece.cell) * array.bytes);
      }
      if (pieces.empty()) {
        MPI_Type_contiguous(1, MPI_BYTE, &type);
      } else {
        MPI_Type_create_hindexed(static_cast<int>(pieces.size()), lengths.data(), places.data(), MPI_BYTE,
                                 &type);
      }
      MPI_Type_commit(&type);
      must(MPI_File_set_view(file_, array.offset, MPI_BYTE, type, "native", MPI_INFO_NULL), "set_view");
      MPI_Type_free(&type);
      must(whole(memory, static_cast<int>(cells.size()) * array.bytes), "read or write_all");
      must(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
      return;
    }
    // Not reads: in Open MPI 5 those that reach past the end of the file never end. Nor where other threads
    // may sync another file: OMPIO's MPI_File_sync fails while anything is pending, of whatever file.
    const bool at_once = !threads_ && access.writing && way % 3 == 0 && pieces.size() < 50;
    std::vector<MPI_Request> requests;
    for (const Piece& piece : pieces) {
      const MPI_Offset offset = array.offset + static_cast<MPI_Offset>(piece.cell) * array.bytes;
      MPI_Request* request = at_once ? &requests.emplace_back(MPI_REQUEST_NULL) : nullptr;
      const int bytes = static_cast<int>(piece.length) * array.bytes;
      must(piecewise(offset, memory, bytes, request), "read or write_at");
      memory += bytes;
    }
    must(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "wait");
  }

  const Team& team_;
  bool threads_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

std::unique_ptr<OpenFile> open_mpiio(const Opening& opening) {
  return std::make_unique<MpiioFile>(opening);
}

}  // namespace mixed
