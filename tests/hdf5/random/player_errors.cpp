// Calls that have to fail, in the same way with both drivers, and leave everything as it was. All ranks make
// the same mistake: where only some do, the others wait for ever in a collective call of the stock driver,
// too.
#include "player.hpp"

namespace test {

void Player::do_something_wrong() {
  FileModel& file = pick_file();
  DatasetModel* set = pick_set(file);
  if (set == nullptr) return;
  const hid_t id = handle(file, *set);
  const Transfer how = draw_transfer(together_if(file.collective_metadata || set->filtered), !set->filtered);
  std::vector<double> memory(8, 1);
  const Id few = space({3});
  const Id extent(H5Screate_simple(static_cast<int>(set->rank()), set->dims.data(), nullptr));
  const bool writing = all_.one_in(2);
  const auto move_with = [&](const std::string& what, hid_t on, hid_t type, hid_t in_memory, hid_t in_file) {
    if (writing) {
      trace_.sign(what + ", write", H5Dwrite(on, type, in_memory, in_file, how.list, memory.data()));
    } else {
      trace_.sign(what + ", read", H5Dread(on, type, in_memory, in_file, how.list, memory.data()));
    }
  };
  switch (all_.below(10)) {
    case 0: {
      const Id four = space({4});
      const Id other = space({2, 3});
      move_with("another number of elements", id, H5T_NATIVE_DOUBLE, four,
                set->dims == std::vector<hsize_t>{4} ? other : extent);
      break;
    }
    case 1: {
      std::vector<hsize_t> start(set->rank(), 0), count(set->rank(), 1);
      start[0] = set->dims[0] + 1;
      H5Sselect_hyperslab(extent, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
      const Id one = space({1});
      move_with("outside the extent", id, H5T_NATIVE_DOUBLE, one, extent);
      break;
    }
    case 2: {
      const hid_t closed = H5Dopen2(file.id, set->paths.back().c_str(), H5P_DEFAULT);
      H5Dclose(closed);
      move_with("closed dataset", closed, H5T_NATIVE_DOUBLE, few, few);
      break;
    }
    case 3:
      trace_.sign("open what is not there", H5Dopen2(file.id, "/not/there", H5P_DEFAULT));
      trace_.sign("delete what is not there", H5Ldelete(file.id, "/not_there", H5P_DEFAULT));
      break;
    case 4: {
      const Id again(
          trace_.sign("create what is there", H5Dcreate2(file.id, set->paths.back().c_str(), H5T_STD_I32LE,
                                                         few, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
      break;
    }
    case 5: {
      std::vector<hsize_t> wanted = set->dims;
      for (std::size_t d = 0; d < wanted.size(); ++d) {
        if (set->most[d] != H5S_UNLIMITED) wanted[d] = set->most[d] + 1;
      }
      if (wanted != set->dims) trace_.sign("beyond the largest extent", H5Dset_extent(id, wanted.data()));
      break;
    }
    case 6: {
      if (set->dims.size() != 1 || set->dims[0] < 8) break;
      const Id text(H5Tcopy(H5T_C_S1));
      hsize_t first = 0, eight = 8;
      H5Sselect_hyperslab(extent, H5S_SELECT_SET, &first, nullptr, &eight, nullptr);
      const Id in_memory = space({8});
      move_with("numbers as text", id, text, in_memory, extent);
      break;
    }
    case 7:
      trace_.sign("attribute that is not there", H5Aopen(id, "not there", H5P_DEFAULT));
      trace_.sign("delete of an attribute that is not there", H5Adelete(id, "not there"));
      break;
    case 8: {
      // One rank alone may.
      if (!set->filtered || run_.ranks == 1 || file.collective_metadata || set->elements.size() < 3) break;
      std::vector<hsize_t> start(set->rank(), 0), count(set->rank(), 1);
      H5Sselect_hyperslab(extent, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
      const Id one = space({1});
      trace_.sign("filtered chunks without the others",
                  H5Dwrite(id, set->type->id(), one, extent, transfer(H5FD_MPIO_INDEPENDENT), memory.data()));
      break;
    }
    default: {
      const Id none(H5Pcreate(H5P_DATASET_CREATE));
      const hsize_t chunk = 100;
      H5Pset_chunk(none, 1, &chunk);
      const Id bad(trace_.sign(
          "chunk larger than a fixed extent",
          H5Dcreate2(file.id, new_name("/bad").c_str(), H5T_STD_I32LE, few, H5P_DEFAULT, none, H5P_DEFAULT)));
      break;
    }
  }
  // A transfer that fails may leave chunks in HDF5's cache.
  if (set->filtered) let_go(*set);
}

}  // namespace test
