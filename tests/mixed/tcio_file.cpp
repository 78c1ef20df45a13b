// A file by TCIO: each rank writes and reads pieces in any order; reads are lazy.
#include <forebay/tcio.h>

#include <algorithm>
#include <list>

#include "open_file.hpp"
#include "standing.hpp"

namespace mixed {
namespace {

void must(int code, const char* what) {
  if (code != FOREBAY_SUCCESS) fail(std::string("tcio_") + what + ": " + forebay_last_error());
}

class TcioFile : public OpenFile {
 public:
  explicit TcioFile(const Opening& opening) : me_(opening.team.me()) {
    const Info info(opening.hints);
    const int flags =
        opening.writable ? FOREBAY_RDWR | (opening.create ? FOREBAY_CREATE : 0) : FOREBAY_RDONLY;
    must(tcio_open(opening.team.comm(), opening.path.c_str(), flags, info, &file_), "open");
  }

  void put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) override {
    Dice dice(way + static_cast<std::uint64_t>(me_) * 77);
    const auto size = static_cast<std::size_t>(array.bytes);
    for (const Call& call : calls(array, access, dice)) {
      std::vector<std::size_t> cells(static_cast<std::size_t>(call.piece.length));
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = call.piece.cell + i;
      std::vector<std::byte> data = data_of(cells, array.bytes, array.big, id);
      const auto bytes = static_cast<int64_t>(cells.size() * size);
      if (call.by_pointer) {
        must(tcio_seek(file_, call.offset, SEEK_SET), "seek");
        must(tcio_write(file_, data.data(), bytes), "write");
      } else {
        must(tcio_write_at(file_, call.offset, data.data(), bytes), "write_at");
      }
      std::fill(data.begin(), data.end(), std::byte{0});  // it was taken
    }
  }

  void get(Array& array, const Access& access, std::uint64_t way) override {
    Dice dice(way + static_cast<std::uint64_t>(me_) * 77);
    const std::vector<Box>& boxes = access.boxes[static_cast<std::size_t>(me_)];
    const std::vector<std::size_t> cells = cells_of(array, boxes);
    reads_.push_back({Reading(array, cells, "TCIO's read"), array.big});
    std::byte* memory = reads_.back().reading.bytes();
    for (const Call& call : calls(array, access, dice)) {
      const auto first = std::lower_bound(cells.begin(), cells.end(), call.piece.cell) - cells.begin();
      std::byte* to = memory + first * array.bytes;
      const int64_t bytes = call.piece.length * array.bytes;
      if (call.by_pointer) {
        must(tcio_seek(file_, call.offset, SEEK_SET), "seek");
        must(tcio_read(file_, to, bytes), "read");
      } else {
        must(tcio_read_at(file_, call.offset, to, bytes), "read_at");
      }
    }
    if (access.together) {
      must(tcio_fetch_all(file_), "fetch_all");
      check();
    } else if (dice.one_in(2)) {
      must(tcio_fetch(file_), "fetch");
      check();
    }
  }

  void set_size(int64_t bytes) override {
    must(tcio_set_size(file_, bytes), "set_size");
    check();
  }
  void check_size(int64_t bytes) override {
    int64_t size = -1;
    must(tcio_size(file_, &size), "size");
    if (size < bytes)
      fail("tcio_size: " + std::to_string(size) + ", and " + std::to_string(bytes) + " were put");
  }

  void meet(std::uint64_t way) override {
    if (way % 4 == 0) {
      must(tcio_sync(file_), "sync");
    } else if (way % 4 == 1) {
      must(tcio_fetch_all(file_), "fetch_all");
    } else {
      must(tcio_flush(file_), "flush");
    }
    check();
  }
  void close(std::vector<std::unique_ptr<Array>>& arrays) override {
    must(tcio_close(&file_), "close");
    check();
    note_raw_places(arrays);
  }

 private:
  struct Call {
    Piece piece;
    int64_t offset = 0;
    bool by_pointer = false;
  };
  struct Pending {
    Reading reading;
    bool big;
  };

  // Pieces, at times cut, in any order.
  std::vector<Call> calls(const Array& array, const Access& access, Dice& dice) const {
    std::vector<Call> calls;
    const bool cut = dice.one_in(3), shuffle = dice.one_in(2);
    for (Piece piece : pieces_of(cells_of(array, access.boxes[static_cast<std::size_t>(me_)]))) {
      while (piece.length > 0) {
        const int64_t length = cut ? dice.between(1, piece.length) : piece.length;
        calls.push_back({{piece.cell, length},
                         array.offset + static_cast<int64_t>(piece.cell) * array.bytes,
                         dice.one_in(5)});
        piece.cell += static_cast<std::size_t>(length);
        piece.length -= length;
      }
    }
    for (std::size_t i = calls.size(); shuffle && i > 1; --i)
      std::swap(calls[i - 1], calls[static_cast<std::size_t>(dice.below(static_cast<int64_t>(i)))]);
    return calls;
  }

  void check() {
    for (const Pending& pending : reads_) pending.reading.check(pending.big);
    reads_.clear();
  }

  int me_;
  tcio_file file_ = TCIO_FILE_NULL;
  std::list<Pending> reads_;
};

}  // namespace

std::unique_ptr<OpenFile> open_tcio(const Opening& opening) {
  return std::make_unique<TcioFile>(opening);
}

}  // namespace mixed
