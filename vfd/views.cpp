// Building datatypes from runs, and moving data through file views.
#include "views.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "errors.hpp"
#include "mpi/file.hpp"

namespace forebay::hdf5 {
namespace {

Status outcome(int error, const std::string& what) {
  return error == MPI_SUCCESS ? Status{} : mpi::from_mpi(error, what);
}

class Datatype {
 public:
  Datatype() = default;
  ~Datatype() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  Status indexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error = MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                         MPI_BYTE, &made);
    if (error == MPI_SUCCESS) {
      type_ = made;
      error = MPI_Type_commit(&type_);
    }
    return outcome(error, "cannot describe the request to MPI");
  }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_BYTE;
};

/// All runs of a call, in the file's order, none longer than an MPI count.
template <class Item>  // Put or Get
Status all_runs(std::span<const Item> items, std::vector<Run>& runs) {
  std::array<Run, 512> batch;
  for (const Item& item : items) {
    item.cursor->start(std::int64_t{1} << 40);
    while (const std::size_t n = item.cursor->take(kNoOffset, batch)) {
      for (Run run : std::span(batch).first(n)) {
        while (run.length > 0) {
          const std::int64_t part = std::min<std::int64_t>(run.length, INT_MAX);
          runs.push_back({run.file, run.stream, part});
          run = {run.file + part, run.stream + part, run.length - part};
        }
      }
    }
  }
  if (runs.size() > INT_MAX) return {Code::unsupported, "too many pieces for one atomic request"};
  return {};
}

/// Memory by absolute address and file by offset, for one request of MPI-IO.
template <class Item>
Status describe(std::span<const Item> items, const std::byte* base, Datatype& memory, Datatype& file,
                int& count) {
  std::vector<Run> runs;
  count = 0;
  if (Status status = all_runs(items, runs); !status.ok()) return status;
  if (runs.empty()) return {};
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.file < b.file; });
  std::vector<int> lengths(runs.size());
  std::vector<MPI_Aint> in_file(runs.size());
  std::vector<MPI_Aint> in_memory(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    lengths[i] = static_cast<int>(runs[i].length);
    in_file[i] = static_cast<MPI_Aint>(runs[i].file);
    MPI_Get_address(base + runs[i].stream, &in_memory[i]);
  }
  if (Status status = memory.indexed(lengths, in_memory); !status.ok()) return status;
  if (Status status = file.indexed(lengths, in_file); !status.ok()) return status;
  count = 1;
  return {};
}

Status set_view(DriverFile& f, MPI_Offset offset, MPI_Datatype type) {
  char native[] = "native";
  return outcome(MPI_File_set_view(f.handle, offset, MPI_BYTE, type, native, f.info),
                 "cannot set the file view of " + f.core->path());
}

/// How many bytes the transfer asked for less how many it moved.
Status missing_bytes(MPI_Status& done, int count, MPI_Datatype type, MPI_Count& missing) {
  MPI_Count moved = 0;
  MPI_Count size = 0;
  if (const int error = MPI_Get_elements_x(&done, type, &moved); error != MPI_SUCCESS) {
    return outcome(error, "cannot tell how much was transferred");
  }
  MPI_Type_size_x(type, &size);
  missing = size * count - moved;
  return {};
}

/// Zeroes the last `missing` bytes of the transfer where the datatype has them in memory. The stock driver
/// takes memory for contiguous there, and zeroes what it has read, or what was not asked for.
Status zero_last(const ViewTransfer& t, MPI_Count missing) {
  MPI_Count size = 0;
  MPI_Type_size_x(t.type, &size);
  size *= t.count;
  const auto last = static_cast<std::size_t>(missing);
  const auto first = static_cast<std::size_t>(size) - last;
  if (t.type == MPI_BYTE) {
    std::memset(static_cast<std::byte*>(t.buffer) + first, 0, last);
    return {};
  }
  if (size > INT_MAX) return {};  // more than MPI_Pack takes: left as it is
  std::vector<std::byte> packed(static_cast<std::size_t>(size));
  const int bytes = static_cast<int>(size);
  int at = 0;
  int error = MPI_Pack(t.buffer, t.count, t.type, packed.data(), bytes, &at, MPI_COMM_SELF);
  if (error == MPI_SUCCESS) {
    std::memset(packed.data() + first, 0, last);
    at = 0;
    error = MPI_Unpack(packed.data(), bytes, &at, t.buffer, t.count, t.type, MPI_COMM_SELF);
  }
  return outcome(error, "cannot zero what lies past the end of the file");
}

template <class Item, class Transfer>
Status run_by_run(std::span<const Item> items, const char* verb, const std::string& path,
                  Transfer&& transfer) {
  std::vector<Run> runs;
  if (Status status = all_runs(items, runs); !status.ok()) return status;
  for (const Run& run : runs) {
    if (const int error = transfer(run); error != MPI_SUCCESS) {
      return outcome(error, range_message(verb, path, run.file, run.length));
    }
  }
  return {};
}

}  // namespace

std::int64_t bytes_of(const ViewTransfer& t) {
  MPI_Count size = 0;
  MPI_Type_size_x(t.type, &size);
  return size * t.count;
}

Status write_view(DriverFile& f, const ViewTransfer& t, bool together) {
  Status status = set_view(f, t.offset, t.file_type);
  if (status.ok()) {
    MPI_Status done;
    std::memset(&done, 0, sizeof done);
    const int error = together ? MPI_File_write_at_all(f.handle, 0, t.buffer, t.count, t.type, &done)
                               : MPI_File_write_at(f.handle, 0, t.buffer, t.count, t.type, &done);
    status = outcome(error, "cannot write " + f.core->path());
    MPI_Count missing = 0;
    if (status.ok()) status = missing_bytes(done, t.count, t.type, missing);
    if (status.ok() && missing != 0) {
      status = {Code::io,
                "cannot write " + f.core->path() + ": " + std::to_string(missing) + " bytes are missing"};
    }
    if (together && f.sync_required)
      status.update(outcome(MPI_File_sync(f.handle), "cannot sync " + f.core->path()));
  }
  status.update(set_view(f, 0, MPI_BYTE));
  return status;
}

Status read_view(DriverFile& f, const ViewTransfer& t, bool together, bool root_broadcasts) {
  Status status = set_view(f, t.offset, t.file_type);
  MPI_Count missing = 0;
  if (status.ok()) {
    MPI_Status done;
    std::memset(&done, 0, sizeof done);
    if (together && root_broadcasts) {
      if (f.rank == 0) {
        status = outcome(MPI_File_read_at(f.handle, 0, t.buffer, t.count, t.type, &done),
                         "cannot read " + f.core->path());
        if (status.ok()) status = missing_bytes(done, t.count, t.type, missing);
        if (!status.ok()) missing = -1;
      }
      // The data travel even after a failure: the others wait for them.
      MPI_Bcast(t.buffer, t.count, t.type, 0, f.comm);
      MPI_Bcast(&missing, 1, MPI_COUNT, 0, f.comm);
      if (missing < 0 && status.ok()) status = {Code::peer, "rank 0 cannot read " + f.core->path()};
    } else {
      const int error = together ? MPI_File_read_at_all(f.handle, 0, t.buffer, t.count, t.type, &done)
                                 : MPI_File_read_at(f.handle, 0, t.buffer, t.count, t.type, &done);
      status = outcome(error, "cannot read " + f.core->path());
      if (status.ok()) status = missing_bytes(done, t.count, t.type, missing);
    }
  }
  if (status.ok() && missing > 0) status = contained([&] { return zero_last(t, missing); });
  status.update(set_view(f, 0, MPI_BYTE));
  return status;
}

Status write_atomic(DriverFile& f, std::span<const Put> puts, const std::byte* base, bool collective) {
  if (!collective) {
    return run_by_run(puts, "write", f.core->path(), [&](const Run& run) {
      MPI_Status done;
      const int error = MPI_File_write_at(f.handle, run.file, base + run.stream, static_cast<int>(run.length),
                                          MPI_BYTE, &done);
      int written = 0;
      if (error == MPI_SUCCESS) MPI_Get_count(&done, MPI_BYTE, &written);
      // A short write is a full file system, whatever the call returned.
      return error == MPI_SUCCESS && written != run.length ? MPI_ERR_NO_SPACE : error;
    });
  }
  Datatype memory;
  Datatype file;
  int count = 0;
  Status status = describe(puts, base, memory, file, count);
  if (!status.ok()) count = 0;  // takes part with nothing
  const ViewTransfer transfer{0, count > 0 ? file.get() : MPI_BYTE, MPI_BOTTOM, count,
                              count > 0 ? memory.get() : MPI_BYTE};
  status.update(write_view(f, transfer, true));
  return status;
}

Status read_atomic(DriverFile& f, std::span<const Get> gets, std::byte* base, bool collective) {
  if (!collective) {
    return run_by_run(gets, "read", f.core->path(), [&](const Run& run) {
      MPI_Status done;
      const int error = MPI_File_read_at(f.handle, run.file, base + run.stream, static_cast<int>(run.length),
                                         MPI_BYTE, &done);
      int read = 0;
      if (error == MPI_SUCCESS) {
        MPI_Get_count(&done, MPI_BYTE, &read);
        std::memset(base + run.stream + read, 0, static_cast<std::size_t>(run.length - read));
      }
      return error;
    });
  }
  // A file that ends within the request leaves what it does not hold: zero, as HDF5 expects.
  std::vector<Run> runs;
  Status status = all_runs(gets, runs);
  for (const Run& run : runs) std::memset(base + run.stream, 0, static_cast<std::size_t>(run.length));
  Datatype memory;
  Datatype file;
  int count = 0;
  if (status.ok()) status = describe(gets, base, memory, file, count);
  if (!status.ok()) count = 0;
  Status moved = set_view(f, 0, count > 0 ? file.get() : MPI_BYTE);
  if (moved.ok()) {
    moved = outcome(MPI_File_read_at_all(f.handle, 0, MPI_BOTTOM, count, count > 0 ? memory.get() : MPI_BYTE,
                                         MPI_STATUS_IGNORE),
                    "cannot read " + f.core->path());
  }
  status.update(std::move(moved));
  status.update(set_view(f, 0, MPI_BYTE));
  return status;
}

}  // namespace forebay::hdf5
