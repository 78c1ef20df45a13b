// What the arrays of the file must hold: of each element its value, or two where the call that put the newer
// one has failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "library.hpp"

namespace faults {

class Model {
 public:
  Model();
  /// `sure`: the call said that all went well. `who`: the rank that put it.
  void put(const Part& part, int who, bool sure);
  /// All that steps from `step` on put may be there or not.
  void doubt(int step);

  /// What a read of everything on rank `reader` has got; that of others' unsynced elements only where `all`.
  /// "": right; else the first wrong element.
  std::string judge(const std::vector<std::int32_t>& got, int reader, bool all) const;
  /// Likewise the file itself.
  std::string judge_file(const std::string& path, const Library& library) const;
  /// Whose elements are new since then is everybody's knowledge.
  void synced();

 private:
  struct Element {
    std::int32_t now, before;
    int step, who;  // who: -1: everybody knows it
    bool sure;
  };
  std::string judge_element(std::size_t at, std::int32_t got) const;

  std::vector<Element> elements_;
};

}  // namespace faults
