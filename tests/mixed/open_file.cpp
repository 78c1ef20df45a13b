#include "open_file.hpp"

#include <algorithm>

#include "standing.hpp"

namespace mixed {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::hdf5:
      return "HDF5";
    case Kind::pnetcdf:
      return "PnetCDF";
    case Kind::tcio:
      return "TCIO";
    case Kind::boxes:
      return "File";
    case Kind::mpiio:
      return "MPI-IO";
  }
  return "";
}

Reading::Reading(const Array& array, const std::vector<std::size_t>& cells, std::string what)
    : what_(std::move(what) + " of " + array.name),
      element_(array.bytes),
      got_(cells.size() * static_cast<std::size_t>(array.bytes), std::byte{0xEE}),
      cells_(cells) {
  want_.reserve(cells.size());
  for (const std::size_t cell : cells) want_.push_back(array.cells[cell]);
}

void Reading::check(bool big) const {
  std::string wrong;
  std::size_t count = 0;
  for (std::size_t i = 0; i < want_.size(); ++i) {
    if (!want_[i].known) continue;
    const int64_t got = decode(&got_[i * static_cast<std::size_t>(element_)], element_, big);
    if (got == want_[i].value) continue;
    if (count++ == 0) {
      wrong = "element " + std::to_string(cells_[i]) + " is " + std::to_string(got) + ", not " +
              std::to_string(want_[i].value);
    }
  }
  if (count > 0)
    fail(what_ + ": " + std::to_string(count) + " of " + std::to_string(want_.size()) + " wrong: " + wrong);
}

std::vector<std::byte> data_of(const std::vector<std::size_t>& cells, int bytes, bool big, std::uint64_t id) {
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<std::byte> data(std::max<std::size_t>(cells.size() * size, 1));
  for (std::size_t i = 0; i < cells.size(); ++i)
    encode(value_of(id, cells[i], bytes), bytes, big, &data[i * size]);
  return data;
}

std::vector<std::size_t> cells_of(const Array& array, const std::vector<Box>& boxes) {
  std::vector<std::size_t> all;
  for (const Box& box : boxes) {
    const std::vector<std::size_t> cells = cells_of(array, box);
    all.insert(all.end(), cells.begin(), cells.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Piece> pieces_of(const std::vector<std::size_t>& cells) {
  std::vector<Piece> pieces;
  for (const std::size_t cell : cells) {
    if (!pieces.empty() && pieces.back().cell + static_cast<std::size_t>(pieces.back().length) == cell) {
      ++pieces.back().length;
    } else {
      pieces.push_back({cell, 1});
    }
  }
  return pieces;
}

std::unique_ptr<OpenFile> open_file(Kind kind, const Opening& opening) {
  switch (kind) {
    case Kind::hdf5:
      return open_hdf5(opening);
    case Kind::pnetcdf:
      return open_pnetcdf(opening);
    case Kind::tcio:
      return open_tcio(opening);
    case Kind::boxes:
      return open_boxes(opening);
    case Kind::mpiio:
      return open_mpiio(opening);
  }
  return nullptr;
}

Info::Info(const std::string& hints) {
  MPI_Info_create(&info_);
  for (std::size_t at = 0; at < hints.size();) {
    const std::size_t equals = hints.find('=', at), end = hints.find(';', at);
    MPI_Info_set(info_, hints.substr(at, equals - at).c_str(),
                 hints.substr(equals + 1, end - equals - 1).c_str());
    at = end + 1;
  }
}

void note_raw_places(std::vector<std::unique_ptr<Array>>& arrays) {
  for (const auto& array : arrays) {
    array->places.resize(array->cells.size());
    for (std::size_t c = 0; c < array->cells.size(); ++c)
      array->places[c] = array->offset + static_cast<int64_t>(c) * array->bytes;
  }
}

}  // namespace mixed
