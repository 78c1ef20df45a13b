// Define and data modes, and what inquiries say about our puts and gets.
#include "file_slots.hpp"

#include <algorithm>

#include "agree.hpp"
#include "drain.hpp"
#include "errors.hpp"
#include "large_fill.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

template <class Enddef>
int end_definition(OpenFile& file, Enddef&& stock_enddef) {
  LargeFill fill(file);
  if (file.active()) file.core->barrier("enddef");
  int err = fill.prepare();
  int ended = stock_enddef();
  // Rank 0 alone writes the header.
  if (file.active()) ended = spread_error(file, ended);
  if (file.active()) file.core->show_to_all("enddef");  // it moves data, and fills
  if (ended == NC_NOERR) {
    file.in_define = false;
    file.independent = false;
    const int refreshed = file.active() ? file.variables.refresh() : NC_NOERR;
    if (err == NC_NOERR) err = refreshed;
  }
  return fill.finish(ended != NC_NOERR ? ended : err);
}

// PnetCDF's own sync lets each rank sync the file, and where one cannot, the others wait for it without an
// end. Where the core writes to the same file by itself its sync is of the header, too: a header that PnetCDF
// has written lies in this machine's, or a coherent file system's, pages.
int sync_stock(OpenFile& file) {
  const bool apart = file.core->settings().storage == StorageKind::posix;
  return spread_error(file,
                      apart ? file.stock.sync_numrecs(file.stock_file) : file.stock.sync(file.stock_file));
}

// The header's count may have been written by PnetCDF's own driver: see RecordCount::restore.
int keep_count(OpenFile& file, int err) {
  const int again = file.records.restore_on_all(file);
  return err != NC_NOERR ? err : again;
}

}  // namespace

// What PnetCDF's own close does first in define mode.
int end_large_definition(OpenFile& file) {
  LargeFill fill(file);
  int err = fill.prepare();
  if (!fill.taken_over()) return err;
  const int ended = file.stock.enddef(file.stock_file);
  file.core->show_to_all("enddef");
  if (ended == NC_NOERR) file.in_define = false;
  if (err == NC_NOERR) err = ended != NC_NOERR ? ended : file.variables.refresh();
  return fill.finish(err);
}

int leave_independent_mode(OpenFile& file) {
  // PnetCDF's own driver spreads the count of records that it knows.
  // Where that fails, which all ranks know, PnetCDF leaves the file in this mode.
  if (int err = drain_in_any_mode(file)) return err;
  if (file.active() && file.independent && !file.in_define) file.core->end_independent();
  int err = file.stock.end_indep_data(file.stock_file);
  if (err == NC_NOERR) file.independent = false;
  return file.active() ? keep_count(file, err) : err;
}

int enddef(void* object) {
  OpenFile& file = OpenFile::of(object);
  return guarded([&] { return end_definition(file, [&] { return file.stock.enddef(file.stock_file); }); });
}

int enddef_aligned(void* object, MPI_Offset header_free, MPI_Offset fixed_align, MPI_Offset fixed_free,
                   MPI_Offset record_align) {
  OpenFile& file = OpenFile::of(object);
  return guarded([&] {
    return end_definition(file, [&] {
      return file.stock.enddef_aligned(file.stock_file, header_free, fixed_align, fixed_free, record_align);
    });
  });
}

// Ending the definition may move all records, so PnetCDF's own driver must know how many there are.
int redef(void* object) {
  OpenFile& file = OpenFile::of(object);
  return guarded([&] {
    if (file.active()) {
      file.core->barrier("redef");
      if (file.independent) {
        if (int err = leave_independent_mode(file)) return err;
      }
      if (int err = drain_collective(file)) return err;
      if (int err = file.records.settle(file)) return err;
    }
    const int err = file.stock.redef(file.stock_file);
    if (err == NC_NOERR && file.active()) {
      if (int asked = file.stock.inq(file.stock_file, nullptr, &file.first_new_variable, nullptr, nullptr))
        return asked;
    }
    if (err == NC_NOERR) {
      file.in_define = true;
      file.independent = false;
    }
    return err;
  });
}

int sync(void* object) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active() || file.in_define || !file.writable) return file.stock.sync(file.stock_file);
  return guarded([&] {
    file.core->barrier("sync");
    const int drained = drain_in_any_mode(file, FlushFor::sync);
    int err = keep_count(file, sync_stock(file));
    if (err == NC_NOERR) err = drained;
    const int core_err = report(file.core->sync(), "cannot sync the file");
    return err != NC_NOERR ? err : core_err;
  });
}

int flush(void* object) {
  OpenFile& file = OpenFile::of(object);
  const int drained =
      guarded([&] { return file.independent ? drain_independent(file) : drain_in_any_mode(file); });
  const int err = file.stock.flush(file.stock_file);
  return err != NC_NOERR ? err : drained;
}

int begin_indep_data(void* object) {
  OpenFile& file = OpenFile::of(object);
  // PnetCDF's own driver writes the count that it knows at the end of this mode, for a moment over ours.
  const int drained = guarded([&] {
    if (file.in_define || !file.active() || !file.writable) return NC_NOERR;
    const int err = drain_collective(file);
    return err != NC_NOERR || file.independent ? err : file.records.settle(file);
  });
  // Which all ranks know. PnetCDF leaves the file in the mode that it was in.
  if (drained != NC_NOERR) return drained;
  const int err = file.stock.begin_indep_data(file.stock_file);
  if (err == NC_NOERR) file.independent = true;
  if (err == NC_NOERR && file.active() && file.core->commits()) file.core->begin_independent();
  return err;
}

int end_indep_data(void* object) {
  OpenFile& file = OpenFile::of(object);
  return guarded([&] { return leave_independent_mode(file); });
}

int inq_misc(void* object, int* path_length, char* path, int* fixed_vars, int* record_vars,
             int* striping_size, int* striping_count, MPI_Offset* header_size, MPI_Offset* header_extent,
             MPI_Offset* record_size, MPI_Offset* put_size, MPI_Offset* get_size, MPI_Info* info,
             int* requests, MPI_Offset* buffer_usage, MPI_Offset* buffer_size) {
  OpenFile& file = OpenFile::of(object);
  const bool ours = file.active();
  const int err =
      file.stock.inq_misc(file.stock_file, path_length, path, fixed_vars, record_vars, striping_size,
                          striping_count, header_size, header_extent, record_size, put_size, get_size, info,
                          requests, ours ? nullptr : buffer_usage, ours ? nullptr : buffer_size);
  if (!ours || err != NC_NOERR) return err;
  if (put_size != nullptr) *put_size += file.put_bytes;
  if (get_size != nullptr) *get_size += file.get_bytes;
  if (requests != nullptr) *requests += static_cast<int>(file.puts.size() + file.gets.size());
  // How a program, or a person, can tell that this driver is at work.
  if (info != nullptr && *info != MPI_INFO_NULL) MPI_Info_set(*info, "forebay", "active");
  if (buffer_usage == nullptr && buffer_size == nullptr) return NC_NOERR;
  if (!file.attached) return NC_ENULLABUF;
  if (buffer_usage != nullptr) *buffer_usage = file.attached->used();
  if (buffer_size != nullptr) *buffer_size = file.attached->size();
  return NC_NOERR;
}

int inq_dim(void* object, int dimension, char* name, MPI_Offset* size) {
  OpenFile& file = OpenFile::of(object);
  const int err = file.stock.inq_dim(file.stock_file, dimension, name, size);
  const std::int64_t records = std::max(file.records.agreed(), file.records.alone());
  if (size != nullptr && records > 0 && dimension == file.variables.unlimited_dimension()) {
    *size = std::max<MPI_Offset>(*size, records);
  }
  return err;
}

int copy_att(void* from, int from_variable, const char* name, void* to, int to_variable) {
  OpenFile& source = OpenFile::of(from);
  OpenFile* target = static_cast<OpenFile*>(to);
  // The other file may be another driver's.
  if (target->mark != kOpenFileMark)
    return source.stock.copy_att(source.stock_file, from_variable, name, to, to_variable);
  return guarded([&] {
    const int err =
        source.stock.copy_att(source.stock_file, from_variable, name, target->stock_file, to_variable);
    return target->active() && !target->in_define ? keep_count(*target, err) : err;
  });
}

}  // namespace forebay::pnc
