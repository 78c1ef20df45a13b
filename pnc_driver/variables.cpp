// The questions to PnetCDF's own driver behind the cache.
#include "variables.hpp"

#include "buffer_type.hpp"

namespace forebay::pnc {

int Variables::refresh() {
  ++epoch_;
  return stock_.inq(file_, nullptr, nullptr, nullptr, &unlimited_);
}

int Variables::find(int id, const Variable*& variable) {
  const auto place = static_cast<std::size_t>(id);
  if (place < known_.size() && known_[place] != nullptr) {
    variable = known_[place].get();
    return NC_NOERR;
  }
  auto loaded = std::make_unique<Variable>();
  if (int err = load(id, *loaded); err != NC_NOERR) return err;
  if (place >= known_.size()) known_.resize(place + 1);
  known_[place] = std::move(loaded);
  variable = known_[place].get();
  return NC_NOERR;
}

int Variables::load(int id, Variable& variable) {
  int dims = 0;
  int unlimited = -1;
  variable.id = id;
  if (int err = stock_.inq_var(file_, id, nullptr, &variable.type, &dims, nullptr, nullptr, nullptr, nullptr,
                               nullptr))
    return err;
  if (int err = stock_.inq(file_, nullptr, nullptr, nullptr, &unlimited)) return err;
  variable.element_bytes = static_cast<std::int64_t>(size_of(element_of_external(variable.type)));
  if (variable.element_bytes == 0) return NC_EBADTYPE;
  std::vector<int> ids(static_cast<std::size_t>(dims));
  variable.pitch.resize(ids.size());
  if (dims == 0) return NC_NOERR;
  if (int err = stock_.inq_var(file_, id, nullptr, nullptr, nullptr, ids.data(), nullptr, nullptr, nullptr,
                               nullptr))
    return err;
  variable.is_record = ids[0] == unlimited;
  std::int64_t pitch = 1;
  for (std::size_t d = ids.size(); d-- > 0;) {
    variable.pitch[d] = pitch;
    if (d == 0) break;
    MPI_Offset size = 0;
    if (int err = stock_.inq_dim(file_, ids[d], nullptr, &size)) return err;
    pitch *= size;
  }
  if (variable.is_record) variable.record_elements = variable.pitch[0];
  return NC_NOERR;
}

int Variables::locate(const Variable& variable, std::int64_t& begin) {
  Variable& known = *known_[static_cast<std::size_t>(variable.id)];
  if (known.begin_epoch != epoch_) {
    MPI_Offset offset = 0;
    if (int err = stock_.inq_var(file_, known.id, nullptr, nullptr, nullptr, nullptr, nullptr, &offset,
                                 nullptr, nullptr))
      return err;
    known.begin = offset;
    known.begin_epoch = epoch_;
  }
  begin = known.begin;
  return NC_NOERR;
}

int Variables::record_stride(std::int64_t& bytes) {
  MPI_Offset size = 0;
  const int err = stock_.inq_misc(file_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                  nullptr, &size, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  bytes = size;
  return err;
}

}  // namespace forebay::pnc
