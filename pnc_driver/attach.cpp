// Which PnetCDF is served, and with which table, decided on its release.
#include "attach.hpp"

#include <cstdlib>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "errors.hpp"
#include "table_1_15.hpp"
#include "version.hpp"

namespace forebay::pnc {
namespace {

// The one whose files we serve.
struct Library {
  const void* table = nullptr;
  Table form = Table::none;
  DriverTable stock{};
  const void* answer = nullptr;
  FindSymbol find = nullptr;
  void* context = nullptr;
};

Library library;
std::mutex attach_mutex;

std::string release_in(FindSymbol find, void* context) {
  if (const char* pretended = std::getenv("FOREBAY_TEST_PNETCDF_VERSION")) return pretended;
  const auto libvers = reinterpret_cast<const char* (*)()>(find(context, "ncmpi_inq_libvers"));
  return libvers == nullptr ? std::string{} : std::string(release_of(libvers()));
}

// One line for the whole program where MPI tells who is first.
void say_once(const std::string& message) {
  int initialized = 0, rank = 0;
  if (MPI_Initialized(&initialized) == MPI_SUCCESS && initialized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) warn_once(message);
}

}  // namespace

const DriverTable& stock_table() {
  return library.stock;
}

bool close_agrees() {
  return library.form == Table::v1_15;
}

void* library_symbol(const char* name) {
  return library.find(library.context, name);
}

const void* attach(const void* stock, FindSymbol find, void* context) {
  const std::lock_guard lock(attach_mutex);
  if (library.table == stock) return library.answer;
  if (library.table != nullptr) {
    say_once("a second PnetCDF library in this process keeps its own driver");
    return stock;
  }
  const std::string release = release_in(find, context);
  switch (table_of(release)) {
    case Table::v1_12: {
      const auto& table = *static_cast<const DriverTable*>(stock);
      library = {stock, Table::v1_12, table, &forebay_table(), find, context};
      break;
    }
    case Table::v1_15: {
      const auto& table = *static_cast<const DriverTable115*>(stock);
      library = {stock, Table::v1_15, common_entries(table), &forebay_table_1_15(table), find, context};
      break;
    }
    case Table::none:
      say_once("PnetCDF " + (release.empty() ? "of unknown version" : release) +
               " is not known to this driver (" + known_releases + " are); PnetCDF's own driver is used");
      return stock;
  }
  return library.answer;
}

}  // namespace forebay::pnc
