// A file by PnetCDF: fixed and record variables, blocking calls, requests that stay pending, lists, and
// independent mode.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <list>
#include <map>

#include "open_file.hpp"
#include "standing.hpp"

namespace mixed {
namespace {

void must(int code, const char* what) {
  if (code != NC_NOERR) fail(std::string("ncmpi_") + what + ": " + ncmpi_strerror(code));
}

// Calls the function for elements of `bytes` bytes: FOR_BYTES(bytes, put_vara, _all, memory, (file, …), (,
// …)).
#define MIXED_OPEN(...) __VA_ARGS__
#define MIXED_CALL(type, name, kind, suffix, memory, before, after) \
  ncmpi_##name##_##kind##suffix(MIXED_OPEN before, reinterpret_cast<type*>(memory) MIXED_OPEN after)
#define FOR_BYTES(bytes, name, suffix, memory, before, after)                           \
  ((bytes) == 1   ? MIXED_CALL(signed char, name, schar, suffix, memory, before, after) \
   : (bytes) == 2 ? MIXED_CALL(short, name, short, suffix, memory, before, after)       \
   : (bytes) == 4 ? MIXED_CALL(int, name, int, suffix, memory, before, after)           \
                  : MIXED_CALL(long long, name, longlong, suffix, memory, before, after))

/// Starts and counts of a list, a record a piece, since PnetCDF up to 1.14 puts others elsewhere.
class List {
 public:
  List(const Array& array, const std::vector<Box>& boxes) {
    for (const Box& box : boxes) {
      const int64_t records = array.grows ? box.count[0] : 1;
      for (int64_t r = 0; r < records; ++r) {
        starts_.emplace_back(box.start.begin(), box.start.end());
        counts_.emplace_back(box.count.begin(), box.count.end());
        if (!array.grows) continue;
        starts_.back()[0] += r;
        counts_.back()[0] = 1;
      }
    }
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      start_of_.push_back(starts_[i].data());
      count_of_.push_back(counts_[i].data());
    }
    start_of_.push_back(nullptr);
    count_of_.push_back(nullptr);
  }
  int size() const { return static_cast<int>(starts_.size()); }
  MPI_Offset** starts() { return start_of_.data(); }
  MPI_Offset** counts() { return count_of_.data(); }

 private:
  std::vector<std::vector<MPI_Offset>> starts_, counts_;
  std::vector<MPI_Offset*> start_of_, count_of_;
};

class PnetcdfFile : public OpenFile {
 public:
  explicit PnetcdfFile(const Opening& opening) : team_(opening.team), writable_(opening.writable) {
    const Info info(opening.hints);
    if (opening.create) {
      must(ncmpi_create(team_.comm(), opening.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file_),
           "create");
      must(ncmpi_def_dim(file_, "record", NC_UNLIMITED, &record_), "def_dim");
    } else {
      const int mode = writable_ ? NC_WRITE : NC_NOWRITE;
      must(ncmpi_open(team_.comm(), opening.path.c_str(), mode, info, &file_), "open");
      must(ncmpi_inq_unlimdim(file_, &record_), "inq_unlimdim");
      attach();
    }
    defining_ = opening.create;
    if (opening.expect_forebay) expect_forebay();
  }

  void define(const std::vector<Array*>& arrays, std::uint64_t way) override {
    const bool first = defining_;
    if (!first) must(ncmpi_redef(file_), "redef");
    for (const Array* array : arrays) {
      std::vector<int> dims;
      for (std::size_t d = 0; d < array->shape.size(); ++d) {
        int dim = record_;
        if (d > 0 || !array->grows)
          must(ncmpi_def_dim(file_, (array->name + "_" + std::to_string(d)).c_str(), array->shape[d], &dim),
               "def_dim");
        dims.push_back(dim);
      }
      const nc_type type = array->bytes == 1   ? NC_BYTE
                           : array->bytes == 2 ? NC_SHORT
                           : array->bytes == 4 ? NC_INT
                                               : NC_INT64;
      int id = -1;
      must(ncmpi_def_var(file_, array->name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &id),
           "def_var");
    }
    if (way % 3 == 0)
      must(ncmpi_put_att_text(file_, NC_GLOBAL, "note", static_cast<MPI_Offset>(way % 900),
                              std::string(900, 'x').c_str()),
           "put_att");
    must(ncmpi_enddef(file_), "enddef");
    defining_ = false;
    if (first) attach();
    team_.meet();
  }

  void put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) override {
    const std::vector<Box>& boxes = mine(access);
    const int var = id_of(array);
    const bool lists = access.all_dense() && pending_ == 0 && way % 2 == 0;
    if (lists) {
      List list(array, boxes);
      std::vector<std::byte> data = data_of_boxes(array, boxes, id);
      if (access.together) {
        must(FOR_BYTES(array.bytes, put_varn, _all, data.data(),
                       (file_, var, list.size(), list.starts(), list.counts()), ()),
             "put_varn_all");
      } else {
        must(FOR_BYTES(array.bytes, put_varn, , data.data(),
                       (file_, var, list.size(), list.starts(), list.counts()), ()),
             "put_varn");
      }
    } else if (access.together && access.most_boxes() > 1 && pending_ == 0 && way % 3 != 0) {
      // Not while others are pending: PnetCDF 1.14 then loses records of those that it waits for.
      std::vector<int> requests;
      std::list<std::vector<std::byte>> data;
      for (const Box& box : boxes) {
        data.push_back(data_of(cells_of(array, box), array.bytes, false, id));
        requests.push_back(post_box(var, array, box, data.back().data(), false));
      }
      wait_for(requests, true);
    } else {
      const Box none = nothing(array);
      const std::size_t calls = access.together ? access.most_boxes() : boxes.size();
      for (std::size_t i = 0; i < calls; ++i) {
        const Box& box = i < boxes.size() ? boxes[i] : none;
        std::vector<std::byte> data = data_of(cells_of(array, box), array.bytes, false, id);
        const std::vector<MPI_Offset> start = offsets(box.start), count = offsets(box.count),
                                      stride = offsets(box.stride);
        if (access.together) {
          must(FOR_BYTES(array.bytes, put_vars, _all, data.data(),
                         (file_, var, start.data(), count.data(), stride.data()), ()),
               "put_vars_all");
        } else if (box.dense()) {
          must(FOR_BYTES(array.bytes, put_vara, , data.data(), (file_, var, start.data(), count.data()), ()),
               "put_vara");
        } else {
          must(FOR_BYTES(array.bytes, put_vars, , data.data(),
                         (file_, var, start.data(), count.data(), stride.data()), ()),
               "put_vars");
        }
      }
    }
  }

  void get(Array& array, const Access& access, std::uint64_t way) override {
    const std::vector<Box>& boxes = mine(access);
    const int var = id_of(array);
    if (access.all_dense() && pending_ == 0 && way % 2 == 0) {
      List list(array, boxes);
      Reading reading(array, cells_in_order(array, boxes), "PnetCDF's get_varn");
      if (access.together) {
        must(FOR_BYTES(array.bytes, get_varn, _all, reading.bytes(),
                       (file_, var, list.size(), list.starts(), list.counts()), ()),
             "get_varn_all");
      } else {
        must(FOR_BYTES(array.bytes, get_varn, , reading.bytes(),
                       (file_, var, list.size(), list.starts(), list.counts()), ()),
             "get_varn");
      }
      reading.check(false);
      return;
    }
    const Box none = nothing(array);
    const std::size_t calls = access.together ? access.most_boxes() : boxes.size();
    for (std::size_t i = 0; i < calls; ++i) {
      const Box& box = i < boxes.size() ? boxes[i] : none;
      Reading reading(array, cells_of(array, box), access.together ? "PnetCDF's get_all" : "PnetCDF's get");
      const std::vector<MPI_Offset> start = offsets(box.start), count = offsets(box.count),
                                    stride = offsets(box.stride);
      if (access.together) {
        must(FOR_BYTES(array.bytes, get_vars, _all, reading.bytes(),
                       (file_, var, start.data(), count.data(), stride.data()), ()),
             "get_vars_all");
      } else {
        must(FOR_BYTES(array.bytes, get_vars, , reading.bytes(),
                       (file_, var, start.data(), count.data(), stride.data()), ()),
             "get_vars");
      }
      reading.check(false);
    }
  }

  void post_put(Array& array, const Access& access, std::uint64_t id, std::uint64_t way) override {
    ++pending_;
    const int var = id_of(array);
    const std::vector<Box>& boxes = mine(access);
    const bool buffered = way % 2 == 0;
    if (access.all_dense() && way % 3 == 0 && !boxes.empty()) {
      List list(array, boxes);
      Posted& posted = puts_.emplace_back();
      posted.data = data_of_boxes(array, boxes, id);
      if (buffered && fits(posted.data.size())) {
        must(FOR_BYTES(array.bytes, bput_varn, , posted.data.data(),
                       (file_, var, list.size(), list.starts(), list.counts()), (, &posted.request)),
             "bput_varn");
        posted.data.assign(posted.data.size(), std::byte{0});  // it was taken
      } else {
        must(FOR_BYTES(array.bytes, iput_varn, , posted.data.data(),
                       (file_, var, list.size(), list.starts(), list.counts()), (, &posted.request)),
             "iput_varn");
      }
      return;
    }
    for (const Box& box : boxes) {
      Posted& posted = puts_.emplace_back();
      posted.data = data_of(cells_of(array, box), array.bytes, false, id);
      const bool now = buffered && fits(posted.data.size());
      posted.request = post_box(var, array, box, posted.data.data(), now);
      if (now) posted.data.assign(posted.data.size(), std::byte{0});
    }
  }

  void post_get(Array& array, const Access& access, std::uint64_t way) override {
    ++pending_;
    const int var = id_of(array);
    const std::vector<Box>& boxes = mine(access);
    if (access.all_dense() && way % 3 == 0 && !boxes.empty()) {
      List list(array, boxes);
      Got& got = gets_.emplace_back(Reading(array, cells_in_order(array, boxes), "PnetCDF's iget_varn"));
      must(FOR_BYTES(array.bytes, iget_varn, , got.reading.bytes(),
                     (file_, var, list.size(), list.starts(), list.counts()), (, &got.request)),
           "iget_varn");
      return;
    }
    for (const Box& box : boxes) {
      Got& got = gets_.emplace_back(Reading(array, cells_of(array, box), "PnetCDF's iget_vars"));
      const std::vector<MPI_Offset> start = offsets(box.start), count = offsets(box.count),
                                    stride = offsets(box.stride);
      must(FOR_BYTES(array.bytes, iget_vars, , got.reading.bytes(),
                     (file_, var, start.data(), count.data(), stride.data()), (, &got.request)),
           "iget_vars");
    }
  }

  void wait(bool together, std::uint64_t way) override {
    if (way % 2 == 0) {
      must(together ? ncmpi_wait_all(file_, NC_REQ_ALL, nullptr, nullptr)
                    : ncmpi_wait(file_, NC_REQ_ALL, nullptr, nullptr),
           "wait for all");
    } else {
      std::vector<int> requests;
      for (const Posted& posted : puts_) requests.push_back(posted.request);
      for (const Got& got : gets_) requests.push_back(got.request);
      if (way % 3 == 0) std::reverse(requests.begin(), requests.end());
      wait_for(requests, together);
    }
    for (const Got& got : gets_) got.reading.check(false);
    gets_.clear();
    puts_.clear();
    pending_ = 0;
    buffered_ = 0;
  }

  void set_independent(bool on) override {
    must(on ? ncmpi_begin_indep_data(file_) : ncmpi_end_indep_data(file_), "begin or end_indep_data");
    team_.meet();
  }
  void meet(std::uint64_t /*way*/) override {
    must(ncmpi_sync(file_), "sync");
    team_.meet();
  }

  void close(std::vector<std::unique_ptr<Array>>& arrays) override {
    MPI_Offset record_bytes = 0;
    must(ncmpi_inq_recsize(file_, &record_bytes), "inq_recsize");
    for (const auto& array : arrays) {
      MPI_Offset first = 0;
      must(ncmpi_inq_varoffset(file_, id_of(*array), &first), "inq_varoffset");
      array->places.resize(array->cells.size());
      const int64_t inner = array->grows && array->shape[0] > 0 ? array->elements() / array->shape[0] : 0;
      for (std::size_t c = 0; c < array->cells.size(); ++c) {
        const auto cell = static_cast<int64_t>(c);
        array->places[c] = array->grows ? first + cell / inner * record_bytes + cell % inner * array->bytes
                                        : first + cell * array->bytes;
      }
    }
    if (writable_) must(ncmpi_buffer_detach(file_), "buffer_detach");
    must(ncmpi_close(file_), "close");
  }

  void check_size(int64_t records) override {
    MPI_Offset found = -1;
    must(ncmpi_inq_dimlen(file_, record_, &found), "inq_dimlen");
    if (found < records)
      fail("PnetCDF: " + std::to_string(found) + " records, and " + std::to_string(records) + " were put");
  }

 private:
  struct Posted {
    int request = NC_REQ_NULL;
    std::vector<std::byte> data;
  };
  struct Got {
    explicit Got(Reading r) : reading(std::move(r)) {}
    int request = NC_REQ_NULL;
    Reading reading;
  };
  static constexpr MPI_Offset kAttached = 1 << 16;

  void attach() {
    if (writable_) must(ncmpi_buffer_attach(file_, kAttached), "buffer_attach");
  }
  bool fits(std::size_t bytes) {
    // Others may round up.
    const auto rounded = static_cast<MPI_Offset>((bytes + 63) / 64 * 64);
    if (buffered_ + rounded > kAttached) return false;
    buffered_ += rounded;
    return true;
  }

  void expect_forebay() {
    MPI_Info info = MPI_INFO_NULL;
    char answer[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    must(ncmpi_inq_file_info(file_, &info), "inq_file_info");
    MPI_Info_get(info, "forebay", MPI_MAX_INFO_VAL, answer, &found);
    MPI_Info_free(&info);
    if (found == 0) fail("PnetCDF does not run on Forebay's driver");
  }

  const std::vector<Box>& mine(const Access& access) const {
    return access.boxes[static_cast<std::size_t>(team_.me())];
  }
  int id_of(const Array& array) {
    const auto found = ids_.find(array.name);
    if (found != ids_.end()) return found->second;
    int id = -1;
    must(ncmpi_inq_varid(file_, array.name.c_str(), &id), "inq_varid");
    return ids_[array.name] = id;
  }
  static std::vector<MPI_Offset> offsets(const Indices& values) { return {values.begin(), values.end()}; }
  static Box nothing(const Array& array) {
    const Indices zeros(array.shape.size(), 0), ones(array.shape.size(), 1);
    return {zeros, zeros, ones};
  }
  static std::vector<std::size_t> cells_in_order(const Array& array, const std::vector<Box>& boxes) {
    std::vector<std::size_t> all;
    for (const Box& box : boxes) {
      const std::vector<std::size_t> cells = cells_of(array, box);
      all.insert(all.end(), cells.begin(), cells.end());
    }
    return all;
  }
  static std::vector<std::byte> data_of_boxes(const Array& array, const std::vector<Box>& boxes,
                                              std::uint64_t id) {
    return data_of(cells_in_order(array, boxes), array.bytes, false, id);
  }

  int post_box(int var, const Array& array, const Box& box, std::byte* data, bool buffered) {
    int request = NC_REQ_NULL;
    const std::vector<MPI_Offset> start = offsets(box.start), count = offsets(box.count),
                                  stride = offsets(box.stride);
    if (buffered) {
      must(FOR_BYTES(array.bytes, bput_vars, , data, (file_, var, start.data(), count.data(), stride.data()),
                     (, &request)),
           "bput_vars");
    } else if (box.dense()) {
      must(FOR_BYTES(array.bytes, iput_vara, , data, (file_, var, start.data(), count.data()), (, &request)),
           "iput_vara");
    } else {
      must(FOR_BYTES(array.bytes, iput_vars, , data, (file_, var, start.data(), count.data(), stride.data()),
                     (, &request)),
           "iput_vars");
    }
    return request;
  }

  void wait_for(std::vector<int>& requests, bool together) {
    std::vector<int> statuses(requests.size() + 1, NC_NOERR);
    requests.push_back(NC_REQ_NULL);
    const int count = static_cast<int>(requests.size()) - 1;
    must(together ? ncmpi_wait_all(file_, count, requests.data(), statuses.data())
                  : ncmpi_wait(file_, count, requests.data(), statuses.data()),
         "wait");
    for (const int status : statuses) must(status, "wait (a request)");
  }

  const Team& team_;
  bool writable_;
  bool defining_ = false;
  int file_ = -1, record_ = -1;
  std::map<std::string, int> ids_;
  std::list<Posted> puts_;
  std::list<Got> gets_;
  int pending_ = 0;  // posts since the last wait, the same on all ranks
  MPI_Offset buffered_ = 0;
};

}  // namespace

std::unique_ptr<OpenFile> open_pnetcdf(const Opening& opening) {
  return std::make_unique<PnetcdfFile>(opening);
}

}  // namespace mixed
