// Registration of the driver, and the functions by which a program selects it.
#include "config.hpp"

#include <H5FDdevelop.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "driver.hpp"
#include "engine/core_file.hpp"
#include "errors.hpp"
#include "library.hpp"
#include "mpi/communicator.hpp"
#include "mpi/handles.hpp"
#include "mpi/resolve_settings.hpp"
#include "ranks/agreement.hpp"

namespace forebay::hdf5 {
namespace {

constexpr std::size_t kHintsAt = offsetof(H5FD_forebay_config_t, hints);

hid_t registered = H5I_INVALID_HID;  // HDF5 serialises what touches it

/// The driver's info in an access list; NULL where there is none, which HDF5 treats as an error that nobody
/// should see.
const H5FD_forebay_config_t* driver_info(hid_t fapl) {
  const void* info = nullptr;
  H5E_BEGIN_TRY {
    info = H5Pget_driver_info(fapl);
  }
  H5E_END_TRY
  if (info == nullptr) H5Eclear2(H5E_DEFAULT);
  return static_cast<const H5FD_forebay_config_t*>(info);
}

Status set_hints(H5FD_forebay_config_t& config, std::string_view hints) {
  if (hints.size() >= sizeof config.hints) {
    return {Code::bad_hint, "hints of " + std::to_string(hints.size()) + " characters, at most " +
                                std::to_string(sizeof config.hints - 1) + " are possible"};
  }
  std::memset(config.hints, 0, sizeof config.hints);
  std::copy(hints.begin(), hints.end(), config.hints);
  return {};
}

/// What H5Pset_fapl_forebay is given; `mine` gets the config.
Status check_arguments(hid_t fapl_id, const H5FD_forebay_config_t* config, H5FD_forebay_config_t& mine) {
  if (fapl_id == H5P_DEFAULT) return {Code::bad_argument, "the default property list cannot be changed"};
  if (H5Pisa_class(fapl_id, H5P_FILE_ACCESS) <= 0)
    return {Code::bad_argument, "not a file access property list"};
  if (Status status = normalize(config, mine); !status.ok()) return status;
  if (mine.flags != 0)
    return {Code::bad_argument, "Forebay config with unknown flags " + std::to_string(mine.flags)};
  Settings settings;  // only to find a mistake where the program can still say so
  return resolve_settings(MPI_INFO_NULL, mine.hints, false, "", settings);
}

}  // namespace

Status normalize(const H5FD_forebay_config_t* config, H5FD_forebay_config_t& out) {
  out = H5FD_FOREBAY_CONFIG_INIT;
  if (config == nullptr) return {};
  if (config->magic != H5FD_FOREBAY_CONFIG_MAGIC) {
    return {Code::bad_argument, "not a Forebay config: begin with H5FD_FOREBAY_CONFIG_INIT"};
  }
  if (config->version == 0 || config->version > H5FD_FOREBAY_CONFIG_VERSION) {
    return {Code::bad_argument, "Forebay config of version " + std::to_string(config->version) +
                                    ", this driver knows up to " +
                                    std::to_string(H5FD_FOREBAY_CONFIG_VERSION)};
  }
  if (config->size <= kHintsAt || config->size > (1u << 20)) {
    return {Code::bad_argument, "Forebay config of impossible size " + std::to_string(config->size)};
  }
  if (config->flags == kRefused) {
    return {Code::bad_argument, std::string(config->hints, strnlen(config->hints, sizeof config->hints))};
  }
  if ((config->flags & ~kSelectedAsMpio) != 0) {
    return {Code::bad_argument, "Forebay config with unknown flags " + std::to_string(config->flags)};
  }
  const std::size_t room = std::min(config->size - kHintsAt, sizeof config->hints);
  const void* end = std::memchr(config->hints, 0, room);
  if (end == nullptr) return {Code::bad_hint, "the hints of the Forebay config do not end within the struct"};
  out.flags = config->flags;
  return set_hints(out, std::string_view(config->hints));
}

Status config_of(hid_t fapl, H5FD_forebay_config_t& out) {
  const H5FD_forebay_config_t* info = driver_info(fapl);
  const ssize_t length = H5Pget_driver_config_str(fapl, nullptr, 0);
  if (Status status = normalize(info, out); !status.ok()) return status;
  if (info != nullptr || length <= 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  if (H5Pget_driver_config_str(fapl, text.data(), text.size()) < 0) {
    return {Code::bad_argument, "the driver configuration string cannot be read from the access list"};
  }
  return set_hints(out, text.c_str());
}

Status driver_id(hid_t& id) {
  if (registered >= 0 && H5Iget_type(registered) == H5I_VFL) {
    id = registered;
    return {};
  }
  if (Status status = check_version(); !status.ok()) return status;
  const ApiContext* context = nullptr;
  if (Status status = api_context(context); !status.ok()) return status;
  if (H5FDis_driver_registered_by_name(H5FD_FOREBAY_NAME) > 0) {  // by HDF5_DRIVER, through the plugin entry
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl >= 0 && H5Pset_driver_by_name(fapl, H5FD_FOREBAY_NAME, nullptr) >= 0)
      registered = context->get_driver(fapl);
    if (fapl >= 0) H5Pclose(fapl);
  } else {
    registered = H5FDregister(&driver_class());
  }
  if (registered < 0) return {Code::unsupported, "HDF5 refuses to register the driver"};
  id = registered;
  return {};
}

bool selects(hid_t fapl, hid_t driver) {
  const ApiContext* context = nullptr;
  return api_context(context).ok() && context->get_driver(fapl) == driver;
}

bool selected_as_mpio(hid_t fapl) noexcept {
  if (registered < 0 || !selects(fapl, registered)) return false;
  const H5FD_forebay_config_t* info = driver_info(fapl);
  return info != nullptr && (info->flags & kSelectedAsMpio) != 0;
}

Status get_mpi_params(hid_t fapl, MPI_Comm* comm, MPI_Info* info) {
  MPI_Comm our_comm = MPI_COMM_NULL;
  MPI_Info our_info = MPI_INFO_NULL;
  if (H5Pget_mpi_params(fapl, &our_comm, &our_info) < 0) {
    return {Code::bad_argument, "the access list does not give its communicator"};
  }
  if (comm != nullptr) {
    *comm = our_comm;
  } else if (our_comm != MPI_COMM_NULL) {
    MPI_Comm_free(&our_comm);
  }
  if (info != nullptr) {
    *info = our_info;
  } else if (our_info != MPI_INFO_NULL) {
    MPI_Info_free(&our_info);
  }
  return {};
}

Status select_driver(hid_t fapl, MPI_Comm comm, MPI_Info info, const H5FD_forebay_config_t& config) {
  if (!mpi::works_with(comm)) return {Code::bad_argument, "MPI is not running: call MPI_Init first"};
  hid_t id = H5I_INVALID_HID;
  if (Status status = driver_id(id); !status.ok()) return status;
  if (H5Pset_mpi_params(fapl, comm, info) < 0 || H5Pset_driver(fapl, id, &config) < 0) {
    return {Code::bad_argument, "the access list does not take the driver"};
  }
  return {};
}

void* copy_config(const void* config) {
  auto* out = static_cast<H5FD_forebay_config_t*>(std::malloc(sizeof(H5FD_forebay_config_t)));
  if (out == nullptr) return nullptr;
  // Where this fails, HDF5 counts one user of the driver too many, and cannot close its library (2.2 then
  // aborts). So what is wrong with a config is kept in its place, and the open says it.
  const Status status =
      contained([&] { return normalize(static_cast<const H5FD_forebay_config_t*>(config), *out); });
  if (!status.ok()) {
    *out = H5FD_FOREBAY_CONFIG_INIT;
    out->flags = kRefused;
    status.message().copy(out->hints, sizeof out->hints - 1);
  }
  return out;
}

herr_t free_config(void* config) {
  std::free(config);
  return 0;
}

herr_t terminate() {
  registered = H5I_INVALID_HID;
  forget_error_class();
  return 0;
}

}  // namespace forebay::hdf5

using namespace forebay;
using namespace forebay::hdf5;

hid_t H5FD_forebay_init(void) {
  hid_t id = H5I_INVALID_HID;
  report(guarded("H5FD_forebay_init", [&] { return driver_id(id); }));
  return id;
}

herr_t H5Pset_fapl_forebay(hid_t fapl_id, MPI_Comm comm, MPI_Info info, const H5FD_forebay_config_t* config) {
  return report(guarded("H5Pset_fapl_forebay", [&]() -> Status {
    if (!mpi::works_with(comm) && comm != MPI_COMM_NULL)
      return {Code::bad_argument, "MPI is not running: call MPI_Init first"};
    if (comm == MPI_COMM_NULL) return {Code::bad_argument, "MPI_COMM_NULL is not a valid communicator"};
    H5FD_forebay_config_t mine;
    Status status = contained([&] { return check_arguments(fapl_id, config, mine); });
    Settings settings;
    (void)contained([&] { return resolve_settings(MPI_INFO_NULL, mine.hints, false, "", settings); });
    const mpi::Communicator ranks(comm);
    const CollectiveCall call({"H5Pset_fapl_forebay", "", &ranks, false, settings.patience_seconds});
    // The communicator is duplicated by all ranks together: nobody may stay away from that by himself.
    if (status = agree_outcome(ranks, status); !status.ok()) return status;
    return select_driver(fapl_id, comm, info, mine);
  }));
}

herr_t H5Pget_fapl_forebay(hid_t fapl_id, MPI_Comm* comm, MPI_Info* info, H5FD_forebay_config_t* config) {
  if (comm != nullptr) *comm = MPI_COMM_NULL;
  if (info != nullptr) *info = MPI_INFO_NULL;
  return report(guarded("H5Pget_fapl_forebay", [&]() -> Status {
    if (H5Pisa_class(fapl_id, H5P_FILE_ACCESS) <= 0)
      return {Code::bad_argument, "not a file access property list"};
    hid_t id = H5I_INVALID_HID;
    if (Status status = driver_id(id); !status.ok()) return status;
    if (!selects(fapl_id, id))
      return {Code::bad_argument, "the access list selects another driver than Forebay"};
    H5FD_forebay_config_t mine;
    if (Status status = config_of(fapl_id, mine); !status.ok()) return status;
    if (config != nullptr) {
      H5FD_forebay_config_t known;
      if (Status status = normalize(config, known); !status.ok()) return status;
      const std::size_t room = std::min(config->size - kHintsAt, sizeof config->hints);
      if (std::strlen(mine.hints) >= room)
        return {Code::bad_argument, "the config struct is too small for the hints"};
      std::memcpy(config->hints, mine.hints, room);
      config->flags = 0;
    }
    return get_mpi_params(fapl_id, comm, info);
  }));
}
