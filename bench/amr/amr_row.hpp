// A row: the checkpoint of examples/amr's mesh in one of its ways, and the restart from it.
#pragma once

#include <memory>
#include <string>

#include "checkpoint.hpp"
#include "row.hpp"

namespace forebay::bench {

// A mesh after some steps, the same for all rows of a run. Collective.
class AmrMesh {
 public:
  explicit AmrMesh(const Setting& setting);

  amr::State state() const { return {domain_, share_, mesh_, digest_}; }

 private:
  amr::Domain domain_;
  amr::Share share_;
  amr::Mesh mesh_;
  std::uint64_t digest_ = 0;
};

// `mesh` outlives it. What the application does with a mesh that it read is no part of it but of `same`: the
// data phase is the library's.
std::unique_ptr<Row> make_amr_row(const AmrMesh& mesh, amr::Way way);

}  // namespace forebay::bench
