// The table that PnetCDF gets: what this driver does itself, and thin wrappers that hand the rest to
// PnetCDF's own driver.
#include <tuple>
#include <type_traits>

#include "attach.hpp"
#include "drain.hpp"
#include "errors.hpp"
#include "file_slots.hpp"
#include "get.hpp"
#include "large_fill.hpp"
#include "open_file.hpp"
#include "put.hpp"
#include "wait.hpp"

namespace forebay::pnc {
namespace {

/// Calls the same entry of PnetCDF's own table with its own object.
template <auto Slot>
struct Forward;
template <class... Args, int (*DriverTable::*Slot)(void*, Args...)>
struct Forward<Slot> {
  static int call(void* object, Args... args) {
    OpenFile& file = OpenFile::of(object);
    return (file.stock.*Slot)(file.stock_file, args...);
  }
};

/// The same, for entries that may write the header with the record count as PnetCDF's own driver knows it.
template <auto Slot>
struct ForwardKeepCount;
template <class... Args, int (*DriverTable::*Slot)(void*, Args...)>
struct ForwardKeepCount<Slot> {
  static int call(void* object, Args... args) {
    OpenFile& file = OpenFile::of(object);
    const int err = (file.stock.*Slot)(file.stock_file, args...);
    if (!file.active() || file.in_define) return err;
    const int again = guarded([&] { return file.records.restore(file); });
    return err != NC_NOERR ? err : again;
  }
};

/// Calls Then<Slot>, one of the above, for entries that read or write data past us: what is kept goes first,
/// for the data mode that the last argument says, or `together` for those that are collective in both.
template <auto Slot, template <auto> class Then, bool together>
struct Drained;
template <class... Args, int (*DriverTable::*Slot)(void*, Args...), template <auto> class Then, bool together>
struct Drained<Slot, Then, together> {
  static int call(void* object, Args... args) {
    OpenFile& file = OpenFile::of(object);
    const int drained = guarded([&] {
      if constexpr (!together && std::is_same_v<Then<Slot>, ForwardKeepCount<Slot>>) {
        const int how = std::get<sizeof...(Args) - 1>(std::tie(args...));
        if (file.active() && (how & mode::collective) == 0) {
          if (int err = report(file.core->begin_direct_writes(false), "cannot write what was put before"))
            return err;
        }
      }
      if constexpr (together)
        return drain_in_any_mode(file);
      else
        return drain_for(file, std::get<sizeof...(Args) - 1>(std::tie(args...)));
    });
    bool collective = false;
    if constexpr (!together)
      collective = file.active() && !file.independent && !file.in_define &&
                   (std::get<sizeof...(Args) - 1>(std::tie(args...)) & mode::collective) != 0;
    if (collective) file.core->show_to_all("access by a datatype");
    // Others may wait for this rank in there, also where its own bytes could not be written.
    const int err = Then<Slot>::call(object, args...);
    if (file.active()) file.core->end_direct_writes();
    if (collective) file.core->show_to_all("access by a datatype");
    return drained != NC_NOERR ? drained : err;
  }
};

template <auto Slot>
constexpr auto forward = &Forward<Slot>::call;
template <auto Slot>
constexpr auto forward_keep_count = &ForwardKeepCount<Slot>::call;
template <auto Slot>
constexpr auto get_drained = &Drained<Slot, Forward, false>::call;
template <auto Slot>
constexpr auto put_drained = &Drained<Slot, ForwardKeepCount, false>::call;
template <auto Slot>
constexpr auto all_drained = &Drained<Slot, ForwardKeepCount, true>::call;

using T = DriverTable;

constexpr DriverTable table = {
    .create = create,
    .open = open,
    .close = close,
    .enddef = enddef,
    .enddef_aligned = enddef_aligned,
    .redef = redef,
    .sync = sync,
    .flush = flush,
    .abort = abort,
    .set_fill = forward<&T::set_fill>,
    .inq = forward<&T::inq>,
    .inq_misc = inq_misc,
    .sync_numrecs = all_drained<&T::sync_numrecs>,
    .begin_indep_data = begin_indep_data,
    .end_indep_data = end_indep_data,

    .def_dim = forward<&T::def_dim>,
    .inq_dimid = forward<&T::inq_dimid>,
    .inq_dim = inq_dim,
    .rename_dim = forward_keep_count<&T::rename_dim>,

    .inq_att = forward<&T::inq_att>,
    .inq_attid = forward<&T::inq_attid>,
    .inq_attname = forward<&T::inq_attname>,
    .copy_att = copy_att,
    .rename_att = forward_keep_count<&T::rename_att>,
    .del_att = forward_keep_count<&T::del_att>,
    .get_att = forward<&T::get_att>,
    .put_att = forward_keep_count<&T::put_att>,

    .def_var = forward<&T::def_var>,
    .def_var_fill = forward<&T::def_var_fill>,
    .fill_var_rec = fill_var_rec,
    .inq_var = forward<&T::inq_var>,
    .inq_varid = forward<&T::inq_varid>,
    .rename_var = forward_keep_count<&T::rename_var>,

    .get_var = get_var,
    .put_var = put_var,
    .get_varn = get_varn,
    .put_varn = put_varn,
    .get_vard = get_drained<&T::get_vard>,
    .put_vard = put_drained<&T::put_vard>,
    .iget_var = iget_var,
    .iput_var = iput_var,
    .bput_var = bput_var,
    .iget_varn = iget_varn,
    .iput_varn = iput_varn,
    .bput_varn = bput_varn,

    .buffer_attach = buffer_attach,
    .buffer_detach = buffer_detach,
    .wait = wait,
    .cancel = cancel,
};

}  // namespace

const DriverTable& forebay_table() {
  return table;
}

}  // namespace forebay::pnc
