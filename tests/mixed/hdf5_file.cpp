// A file by parallel HDF5: contiguous and chunked datasets, with fill values; collective and independent
// transfers of boxes and of unions of boxes.
#include <hdf5.h>

#include <map>

#include "open_file.hpp"
#include "standing.hpp"

namespace mixed {
namespace {

template <class T>
T must(T result, const char* what) {
  if (result < 0) {
    H5Eprint2(H5E_DEFAULT, stderr);
    fail(std::string("HDF5: ") + what);
  }
  return result;
}

std::vector<hsize_t> sizes(const Indices& values) {
  return {values.begin(), values.end()};
}

hid_t memory_type(int bytes) {
  return bytes == 1   ? H5T_NATIVE_INT8
         : bytes == 2 ? H5T_NATIVE_INT16
         : bytes == 4 ? H5T_NATIVE_INT32
                      : H5T_NATIVE_INT64;
}
hid_t file_type(int bytes, bool big) {
  if (!big) return memory_type(bytes);
  return bytes == 1 ? H5T_STD_I8BE : bytes == 2 ? H5T_STD_I16BE : bytes == 4 ? H5T_STD_I32BE : H5T_STD_I64BE;
}

class Hdf5File : public OpenFile {
 public:
  explicit Hdf5File(const Opening& opening) : team_(opening.team) {
    Dice dice(opening.way);
    const Info info(opening.hints);
    const hid_t fapl = must(H5Pcreate(H5P_FILE_ACCESS), "access list");
    must(H5Pset_fapl_mpio(fapl, team_.comm(), info), "H5Pset_fapl_mpio");
    if (dice.one_in(2)) must(H5Pset_coll_metadata_write(fapl, true), "collective metadata");
    if (dice.one_in(4)) must(H5Pset_alignment(fapl, 100, dice.one_in(2) ? 512 : 4096), "alignment");
    if (dice.one_in(4))
      must(H5Pset_meta_block_size(fapl, static_cast<hsize_t>(dice.below(9000))), "block size");
    const char* path = opening.path.c_str();
    if (opening.create) {
      if (dice.one_in(3)) must(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "bounds");
      file_ = must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl), "H5Fcreate");
    } else {
      file_ = must(H5Fopen(path, opening.writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl), "H5Fopen");
    }
    H5Pclose(fapl);
  }

  void define(const std::vector<Array*>& arrays, std::uint64_t way) override {
    Dice dice(way);
    team_.meet();  // whoever is late still writes where a deleted dataset was
    for (const Array* array : arrays) {
      const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
      if (!array->chunk.empty())
        must(H5Pset_chunk(list, static_cast<int>(array->chunk.size()), sizes(array->chunk).data()), "chunk");
      const std::vector<std::byte> fill = one(*array, array->unwritten);
      must(H5Pset_fill_value(list, memory_type(array->bytes), fill.data()), "fill value");
      must(H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC), "fill time");
      std::vector<hsize_t> most = sizes(array->shape);
      if (array->grows) most[0] = H5S_UNLIMITED;
      const hid_t space =
          H5Screate_simple(static_cast<int>(most.size()), sizes(array->shape).data(), most.data());
      sets_[array->name] = must(H5Dcreate2(file_, array->name.c_str(), file_type(array->bytes, array->big),
                                           space, H5P_DEFAULT, list, H5P_DEFAULT),
                                "H5Dcreate");
      H5Sclose(space);
      H5Pclose(list);
      if (dice.one_in(3)) let_go(array->name);
    }
    team_.meet();  // HDF5 does not after the fill values of chunks
  }

  void remove(Array& array) override {
    team_.meet();
    let_go(array.name);
    must(H5Ldelete(file_, array.name.c_str(), H5P_DEFAULT), "H5Ldelete");
  }

  void extend(Array& array, int64_t first) override {
    std::vector<hsize_t> size = sizes(array.shape);
    size[0] = static_cast<hsize_t>(first);
    must(H5Dset_extent(set(array), size.data()), "H5Dset_extent");
    // Chunks that a smaller extent cuts stay in each rank's cache, and HDF5 would write them over later data.
    if (first < array.shape[0]) let_go(array.name);
    team_.meet();
  }

  void annotate(int number, int value) override {
    const std::string name = "note" + std::to_string(number);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t note =
        must(H5Acreate2(file_, name.c_str(), H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT), "H5Acreate");
    must(H5Awrite(note, H5T_NATIVE_INT, &value), "H5Awrite");
    int got = 0;
    must(H5Aread(note, H5T_NATIVE_INT, &got), "H5Aread");
    if (got != value) fail("HDF5: an attribute is " + std::to_string(got) + ", not " + std::to_string(value));
    H5Aclose(note);
    H5Sclose(space);
  }

  void put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) override {
    Dice dice(way);
    const hid_t list = transfer(access.together, dice);
    each(array, access, dice, [&](const std::vector<std::size_t>& cells, hid_t memory, hid_t file) {
      std::vector<std::byte> data = data_of(cells, array.bytes, false, id);
      must(H5Dwrite(set(array), memory_type(array.bytes), memory, file, list, data.data()), "H5Dwrite");
    });
    H5Pclose(list);
    if (dice.one_in(8)) let_go(array.name);
  }

  void get(Array& array, const Access& access, std::uint64_t way) override {
    Dice dice(way);
    const hid_t list = transfer(access.together, dice);
    each(array, access, dice, [&](const std::vector<std::size_t>& cells, hid_t memory, hid_t file) {
      Reading reading(array, cells, access.together ? "HDF5's collective read" : "HDF5's read");
      std::byte none{};
      must(H5Dread(set(array), memory_type(array.bytes), memory, file, list,
                   cells.empty() ? &none : reading.bytes()),
           "H5Dread");
      reading.check(false);
    });
    H5Pclose(list);
  }

  void meet(std::uint64_t way) override {
    must(H5Fflush(file_, way % 2 == 0 ? H5F_SCOPE_GLOBAL : H5F_SCOPE_LOCAL), "H5Fflush");
    team_.meet();
  }

  void close(std::vector<std::unique_ptr<Array>>& arrays) override {
    for (const auto& array : arrays) {
      if (!array->gone) note_places(*array);
    }
    while (!sets_.empty()) let_go(sets_.begin()->first);
    must(H5Fclose(file_), "H5Fclose");
  }

 private:
  static std::vector<std::byte> one(const Array& array, int64_t value) {
    std::vector<std::byte> bytes(8);
    encode(value, array.bytes, false, bytes.data());
    return bytes;
  }

  hid_t set(const Array& array) {
    const auto found = sets_.find(array.name);
    if (found != sets_.end()) return found->second;
    return sets_[array.name] = must(H5Dopen2(file_, array.name.c_str(), H5P_DEFAULT), "H5Dopen");
  }
  void let_go(std::string name) {
    const auto found = sets_.find(name);
    if (found == sets_.end()) return;
    must(H5Dclose(found->second), "H5Dclose");
    sets_.erase(found);
  }

  static hid_t transfer(bool together, Dice& dice) {
    const hid_t list = H5Pcreate(H5P_DATASET_XFER);
    if (together) {
      must(H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE), "transfer list");
      if (dice.one_in(6))
        must(H5Pset_dxpl_mpio_collective_opt(list, H5FD_MPIO_INDIVIDUAL_IO), "transfer list");
    }
    return list;
  }

  // Boxes one by one, or their union; in a collective call always the union, empty where there is none.
  template <class Move>
  void each(const Array& array, const Access& access, Dice& dice, Move&& move) {
    set(array);  // by all ranks: what is open on some only, a collective H5Ldelete stumbles over
    const std::vector<Box>& boxes = access.boxes[static_cast<std::size_t>(team_.me())];
    if (access.together || dice.one_in(2)) {
      transfer_boxes(array, boxes, move);
    } else {
      for (const Box& box : boxes) transfer_boxes(array, {box}, move);
    }
  }
  template <class Move>
  void transfer_boxes(const Array& array, const std::vector<Box>& boxes, Move&& move) {
    const hid_t file =
        H5Screate_simple(static_cast<int>(array.shape.size()), sizes(array.shape).data(), nullptr);
    H5Sselect_none(file);
    for (const Box& box : boxes) {
      must(H5Sselect_hyperslab(file, H5S_SELECT_OR, sizes(box.start).data(), sizes(box.stride).data(),
                               sizes(box.count).data(), nullptr),
           "hyperslab");
    }
    const std::vector<std::size_t> cells = cells_of(array, boxes);
    const hsize_t count[] = {std::max<hsize_t>(cells.size(), 1)};
    const hid_t memory = H5Screate_simple(1, count, nullptr);
    if (cells.empty()) H5Sselect_none(memory);
    move(cells, memory, file);
    H5Sclose(memory);
    H5Sclose(file);
  }

  void note_places(Array& array) {
    array.places.assign(array.cells.size(), -1);
    const hid_t dataset = set(array);
    if (array.chunk.empty()) {
      const haddr_t first = H5Dget_offset(dataset);
      if (first == HADDR_UNDEF) return;
      for (std::size_t c = 0; c < array.places.size(); ++c)
        array.places[c] = static_cast<int64_t>(first) + static_cast<int64_t>(c) * array.bytes;
      return;
    }
    const std::size_t dims = array.shape.size();
    std::vector<hsize_t> at(dims, 0);
    if (array.cells.empty()) return;
    for (;;) {
      unsigned mask = 0;
      haddr_t first = HADDR_UNDEF;
      hsize_t bytes = 0;
      must(H5Dget_chunk_info_by_coord(dataset, at.data(), &mask, &first, &bytes), "chunk info");
      if (first != HADDR_UNDEF) note_chunk(array, at, static_cast<int64_t>(first));
      std::size_t d = dims;
      for (; d > 0; --d) {
        at[d - 1] += static_cast<hsize_t>(array.chunk[d - 1]);
        if (at[d - 1] < static_cast<hsize_t>(array.shape[d - 1])) break;
        at[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }
  static void note_chunk(Array& array, const std::vector<hsize_t>& at, int64_t first) {
    Box box;
    for (std::size_t d = 0; d < at.size(); ++d) {
      box.start.push_back(static_cast<int64_t>(at[d]));
      box.count.push_back(std::min(array.chunk[d], array.shape[d] - static_cast<int64_t>(at[d])));
      box.stride.push_back(1);
    }
    for (const std::size_t cell : cells_of(array, box)) {
      auto rest = static_cast<int64_t>(cell);
      int64_t inside = 0, pitch = 1;
      for (std::size_t d = at.size(); d-- > 0;) {
        inside += (rest % array.shape[d] - box.start[d]) * pitch;
        rest /= array.shape[d];
        pitch *= array.chunk[d];
      }
      array.places[cell] = first + inside * array.bytes;
    }
  }

  const Team& team_;
  hid_t file_ = H5I_INVALID_HID;
  std::map<std::string, hid_t> sets_;
};

}  // namespace

std::unique_ptr<OpenFile> open_hdf5(const Opening& opening) {
  return std::make_unique<Hdf5File>(opening);
}

}  // namespace mixed
