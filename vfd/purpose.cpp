// Differences of counters.
#include "purpose.hpp"

namespace forebay::hdf5 {
namespace {

/// The program's own property list asks for a collective transfer.
bool meant_collective(hid_t dxpl) {
  if (dxpl == H5P_DEFAULT || dxpl == H5P_DATASET_XFER_DEFAULT) return false;
  H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
  return H5Pget_dxpl_mpio(dxpl, &mode) >= 0 && mode == H5FD_MPIO_COLLECTIVE;
}

}  // namespace

Purpose purpose_of_bytes(const DriverFile& f, H5FD_mem_t type) {
  if (type != H5FD_MEM_DRAW) return Purpose::metadata;
  return f.asked_last == H5FD_CTL_GET_MPI_RANK_OPCODE ? Purpose::fill : Purpose::data;
}

Purpose purpose_of_vector(std::uint32_t count, const H5FD_mem_t types[], const void* const buffers[],
                          hid_t dxpl) {
  if (count == 0) return Purpose::data;
  if (types[0] != H5FD_MEM_DRAW) return Purpose::metadata;
  const bool one_buffer = count > 1 && buffers[0] == buffers[1];
  return one_buffer || dxpl == H5P_DEFAULT || dxpl == H5P_DATASET_XFER_DEFAULT ? Purpose::fill
                                                                               : Purpose::data;
}

Accounting::Accounting(DriverFile& f, hid_t dxpl)
    : f_(f),
      dxpl_(dxpl),
      counters_(f.core->counters()),
      requests_(counters_.requests),
      pieces_(counters_.pieces),
      bytes_(counters_.bytes),
      collective_(counters_.collective_flushes),
      independent_(counters_.independent_writes) {}

void Accounting::close(Purpose purpose) {
  Counters& c = counters_;
  if (purpose == Purpose::data) {
    if (c.independent_writes == independent_) return;
    std::uint32_t causes = 0;
    const bool told =
        f_.context->get_no_collective_cause != nullptr && f_.context->get_no_collective_cause(&causes) >= 0;
    // The property list is looked through by name, which takes as long as a small write.
    if ((told && causes == H5D_MPIO_SET_INDEPENDENT) || !meant_collective(dxpl_)) return;
    ++c.broken_writes;
    if (!told) return;
    for (std::size_t bit = 0; bit < c.broken_causes.size(); ++bit) {
      if ((causes >> bit & 1) != 0) ++c.broken_causes[bit];
    }
    return;
  }
  const std::int64_t bytes = c.bytes - bytes_;
  if (purpose == Purpose::metadata) {
    if (bytes > 0) ++c.metadata_writes;
    c.metadata_bytes += bytes;
  } else {
    if (bytes > 0) ++c.fill_writes;
    c.fill_bytes += bytes;
  }
  c.requests = requests_;
  c.pieces = pieces_;
  c.bytes = bytes_;
  c.collective_flushes = collective_;
  c.independent_writes = independent_;
}

}  // namespace forebay::hdf5
