// A file by forebay::File, over the C functions of forebay/file.h: boxes of arrays.
#include <forebay/file.hpp>

#include <optional>
#include <span>

#include "open_file.hpp"
#include "standing.hpp"

namespace mixed {
namespace {

template <class Body>
void must(const char* what, Body&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    fail(std::string("File::") + what + ": " + error.what());
  }
}

class BoxFile : public OpenFile {
 public:
  explicit BoxFile(const Opening& opening) : me_(opening.team.me()) {
    const Info info(opening.hints);
    forebay::Mode mode = opening.writable ? forebay::Mode::read_write : forebay::Mode::read;
    if (opening.writable && opening.create) mode |= forebay::Mode::create;
    must("open", [&] { file_.emplace(opening.team.comm(), opening.path, mode, info); });
  }

  void put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) override {
    forebay::Puts puts;
    const bool swap = array.big && way % 2 == 0;  // by the library, or here
    std::vector<std::vector<std::byte>> data;
    const std::vector<Box>& boxes = access.boxes[static_cast<std::size_t>(me_)];
    data.reserve(boxes.size());
    for (const Box& box : boxes) {
      data.push_back(data_of(cells_of(array, box), array.bytes, array.big && !swap, id));
      puts.add(place(array, box), array.bytes, box.count, data.back().data(), order(swap), nullptr);
    }
    must(access.together ? "put_all" : "put",
         [&] { access.together ? file_->put_all(puts) : file_->put(puts); });
    for (auto& bytes : data) std::fill(bytes.begin(), bytes.end(), std::byte{0});  // they were taken
  }

  void get(Array& array, const Access& access, std::uint64_t way) override {
    forebay::Gets gets;
    const bool swap = array.big && way % 2 == 0;
    std::vector<Reading> readings;
    const std::vector<Box>& boxes = access.boxes[static_cast<std::size_t>(me_)];
    readings.reserve(boxes.size());
    for (const Box& box : boxes) {
      Reading& reading = readings.emplace_back(array, cells_of(array, box),
                                               access.together ? "File's get_all" : "File's get");
      gets.add(place(array, box), array.bytes, box.count, reading.memory(), order(swap), nullptr);
    }
    must(access.together ? "get_all" : "get",
         [&] { access.together ? file_->get_all(gets) : file_->get(gets); });
    for (const Reading& reading : readings) reading.check(array.big && !swap);
  }

  void set_size(int64_t bytes) override {
    must("set_size", [&] { file_->set_size(bytes); });
  }
  void check_size(int64_t bytes) override {
    must("size", [&] {
      const int64_t size = file_->size();
      if (size < bytes)
        fail("File::size: " + std::to_string(size) + ", and " + std::to_string(bytes) + " were put");
    });
  }
  void meet(std::uint64_t way) override {
    must("flush", [&] { way % 4 == 0 ? file_->sync() : file_->flush(); });
  }
  void close(std::vector<std::unique_ptr<Array>>& arrays) override {
    must("close", [&] { file_->close(); });
    note_raw_places(arrays);
  }

 private:
  static forebay::Box place(const Array& array, const Box& box) {
    return {.offset = array.offset,
            .shape = array.shape,
            .start = box.start,
            .count = box.count,
            .stride = box.stride};
  }
  static forebay::ByteOrder order(bool swap) {
    return swap ? forebay::ByteOrder::big : forebay::ByteOrder::native;
  }

  int me_;
  std::optional<forebay::File> file_;
};

}  // namespace

std::unique_ptr<OpenFile> open_boxes(const Opening& opening) {
  return std::make_unique<BoxFile>(opening);
}

}  // namespace mixed
