// Two runs of entries lie in the same order in both tables and are copied; create and open are wrapped.
#include "table_1_15.hpp"

#include <cstddef>
#include <cstring>

#include "attach.hpp"
#include "file_slots.hpp"

namespace forebay::pnc {
namespace {

constexpr std::size_t first_run = offsetof(DriverTable, get_vard) - offsetof(DriverTable, close);
constexpr std::size_t second_run = sizeof(DriverTable) - offsetof(DriverTable, iget_var);
static_assert(first_run == sizeof(DriverTable115::close_to_put_varn));
static_assert(second_run == sizeof(DriverTable115::iget_var_to_cancel));

const char* begin_of(const DriverTable& table) {
  return reinterpret_cast<const char*>(&table);
}
char* begin_of(DriverTable& table) {
  return reinterpret_cast<char*>(&table);
}

const DriverTable115* stock_1_15 = nullptr;

int create_1_15(MPI_Comm comm, const char* path, int cmode, int ncid, int environment, MPI_Info info,
                CommunicatorAttributes attributes, void** object) {
  return create_over(
      [&](void** file) {
        return stock_1_15->create(comm, path, cmode, ncid, environment, info, attributes, file);
      },
      comm, path, cmode, info, object);
}

int open_1_15(MPI_Comm comm, const char* path, int omode, int ncid, int environment, MPI_Info info,
              CommunicatorAttributes attributes, void** object) {
  return open_over(
      [&](void** file) {
        return stock_1_15->open(comm, path, omode, ncid, environment, info, attributes, file);
      },
      comm, path, omode, info, object);
}

}  // namespace

DriverTable common_entries(const DriverTable115& stock) {
  DriverTable table{};
  std::memcpy(begin_of(table) + offsetof(DriverTable, close), stock.close_to_put_varn, first_run);
  std::memcpy(begin_of(table) + offsetof(DriverTable, iget_var), stock.iget_var_to_cancel, second_run);
  return table;
}

const DriverTable115& forebay_table_1_15(const DriverTable115& stock) {
  static const DriverTable115 table = [] {
    DriverTable115 made{};
    made.create = create_1_15;
    made.open = open_1_15;
    const DriverTable& ours = forebay_table();
    std::memcpy(made.close_to_put_varn, begin_of(ours) + offsetof(DriverTable, close), first_run);
    std::memcpy(made.iget_var_to_cancel, begin_of(ours) + offsetof(DriverTable, iget_var), second_run);
    return made;
  }();
  stock_1_15 = &stock;
  return table;
}

}  // namespace forebay::pnc
