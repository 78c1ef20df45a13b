#include "model.hpp"

#include <algorithm>

namespace test {
namespace {

std::uint64_t elements_of(const std::vector<hsize_t>& dims) {
  std::uint64_t n = 1;
  for (hsize_t d : dims) n *= d;
  return n;
}

void renew(Element& element, Epoch now) {
  if (element.epoch == now) return;
  element.epoch = now;
  element.writer = Element::none;
  element.readers = 0;
}

}  // namespace

void DatasetModel::set_extent(const std::vector<hsize_t>& wanted) {
  std::vector<Element> next(elements_of(wanted));
  std::vector<hsize_t> at(wanted.size(), 0);
  for (Element& element : next) {
    std::uint64_t old = 0;
    bool inside = !dims.empty();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      inside = inside && at[d] < dims[d];
      old = old * dims[d] + at[d];
    }
    if (inside) {
      element = elements[old];
    } else {
      element.value = fill;
      element.known = fills;
    }
    for (std::size_t d = wanted.size(); d-- > 0;) {
      if (++at[d] < wanted[d]) break;
      at[d] = 0;
    }
  }
  dims = wanted;
  elements = std::move(next);
}

bool conflicts(const DatasetModel& set, const std::vector<std::uint64_t>& at, int rank, bool writing,
               Epoch now) {
  const std::uint32_t me = 1u << rank;
  const auto meets = [&](const Element& element) {
    if (element.epoch != now) return false;
    if (element.writer != Element::none && element.writer != rank) return true;
    return writing && (element.readers & ~me) != 0;
  };
  if (set.together()) return !at.empty() && touched(set, now);
  return std::any_of(at.begin(), at.end(), [&](std::uint64_t i) { return meets(set.elements[i]); });
}

void note_read(DatasetModel& set, const std::vector<std::uint64_t>& at, int rank, Epoch now) {
  for (std::uint64_t i : at) {
    renew(set.elements[i], now);
    set.elements[i].readers |= 1u << rank;
  }
}

void note_write(DatasetModel& set, const std::vector<std::uint64_t>& at, int rank, Epoch now) {
  for (std::uint64_t i : at) {
    Element& element = set.elements[i];
    renew(element, now);
    element.writer = element.writer == Element::none || element.writer == rank
                         ? static_cast<std::int8_t>(rank)
                         : Element::several;
  }
}

bool touched(const DatasetModel& set, Epoch now) {
  return std::any_of(set.elements.begin(), set.elements.end(), [&](const Element& element) {
    return element.epoch == now && (element.writer != Element::none || element.readers != 0);
  });
}

void note_written_by_all(DatasetModel& set, Epoch now) {
  for (Element& element : set.elements) {
    renew(element, now);
    element.writer = Element::several;
  }
}

}  // namespace test
