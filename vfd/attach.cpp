// The stock driver's property functions, answered by Forebay under the interposer.
#include "attach.hpp"

#include <dlfcn.h>

#include <array>
#include <string>
#include <utility>

#include "config.hpp"
#include "engine/core_file.hpp"
#include "errors.hpp"
#include "library.hpp"
#include "mpi/communicator.hpp"
#include "mpi/handles.hpp"
#include "mpi/resolve_settings.hpp"
#include "ranks/agreement.hpp"

namespace forebay::hdf5 {
namespace {

using SetFapl = herr_t (*)(hid_t, MPI_Comm, MPI_Info);
using GetFapl = herr_t (*)(hid_t, MPI_Comm*, MPI_Info*);

struct Attached {
  SetFapl set = nullptr;
  GetFapl get = nullptr;
  Status status{Code::unsupported, "not attached"};
};
Attached attached;

/// Only one rank of a communicator warns: sixty-four equal lines help nobody.
void warn_on_root(MPI_Comm comm, const std::string& message) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) warn_once(message);
}

/// All ranks take the same driver: the stock function, too, duplicates the communicator with all of them.
Status agree(MPI_Comm comm, Status status, const Settings& settings, bool& all) {
  const mpi::Communicator ranks(comm);
  const CollectiveCall call({"H5Pset_fapl_mpio", "", &ranks, false, settings.patience_seconds});
  std::array<std::int64_t, 2> least{status.ok() ? 1 : 0, settings.enabled ? 1 : 0};
  ranks.reduce(least, Communicator::Op::minimum);
  all = least[1] != 0;
  return least[0] != 0 ? Status{} : spread_failure(ranks, status);
}

}  // namespace

bool is_attached() {
  return attached.set != nullptr && attached.status.ok();
}

}  // namespace forebay::hdf5

using namespace forebay;
using namespace forebay::hdf5;

int forebay_hdf5_attach(void* stock_set_fapl_mpio, void* stock_get_fapl_mpio) {
  attached.set = reinterpret_cast<SetFapl>(stock_set_fapl_mpio);
  attached.get = reinterpret_cast<GetFapl>(stock_get_fapl_mpio);
  try {
    const ApiContext* context = nullptr;
    attached.status = check_same_library(stock_set_fapl_mpio);
    if (attached.status.ok()) attached.status = check_same_mpi();
    if (attached.status.ok()) attached.status = api_context(context);
    if (attached.status.ok()) attached.status = check_version();
  } catch (const std::exception& error) {
    attached.status = {Code::internal, error.what()};
  }
  return attached.status.ok() ? 0 : -1;
}

const char* forebay_hdf5_refusal(void) {
  return attached.status.message().c_str();
}

herr_t forebay_hdf5_set_fapl_mpio(hid_t fapl_id, MPI_Comm comm, MPI_Info info) {
  if (attached.set == nullptr) return -1;
  // What is wrong with the arguments the stock function says best.
  if (!mpi::works_with(comm) || comm == MPI_COMM_NULL || fapl_id == H5P_DEFAULT ||
      H5Pisa_class(fapl_id, H5P_FILE_ACCESS) <= 0) {
    return attached.set(fapl_id, comm, info);
  }
  bool stock = false;
  const herr_t result = report(guarded("H5Pset_fapl_mpio", [&]() -> Status {
    if (!attached.status.ok()) {
      stock = true;
      warn_on_root(comm, "HDF5 runs on its stock driver: " + attached.status.message());
      return {};
    }
    Settings settings;
    bool enabled = false;
    Status status = contained([&] { return resolve_settings(info, "", false, "", settings); });
    if (status = agree(comm, std::move(status), settings, enabled); !status.ok()) return status;
    if (!enabled) {
      stock = true;
      warn_on_root(comm, "HDF5 runs on its stock driver: forebay_enable is off");
      return {};
    }
    H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
    config.flags = kSelectedAsMpio;
    return select_driver(fapl_id, comm, info, config);
  }));
  return stock ? attached.set(fapl_id, comm, info) : result;
}

herr_t forebay_hdf5_get_fapl_mpio(hid_t fapl_id, MPI_Comm* comm, MPI_Info* info) {
  if (attached.get == nullptr) return -1;
  bool ours = false;
  const herr_t result = report(guarded("H5Pget_fapl_mpio", [&]() -> Status {
    if (!attached.status.ok() || H5Pisa_class(fapl_id, H5P_FILE_ACCESS) <= 0) return {};
    ours = selected_as_mpio(fapl_id);
    return ours ? get_mpi_params(fapl_id, comm, info) : Status{};
  }));
  return ours ? result : attached.get(fapl_id, comm, info);
}

hid_t forebay_hdf5_get_driver(hid_t fapl_id, hid_t stock_answer) {
  if (stock_answer < 0 || !attached.status.ok()) return stock_answer;
  return selected_as_mpio(fapl_id) ? H5FD_MPIO : stock_answer;
}
