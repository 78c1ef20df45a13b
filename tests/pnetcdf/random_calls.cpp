// Drawing shapes, pieces and buffers, without what PnetCDF's own driver gets wrong.
#include "random_calls.hpp"

#include <algorithm>
#include <array>

namespace forebay::test {
namespace {

// Cuts the box into pieces and leaves some out.
void draw_pieces(Dice& dice, Call& call, std::vector<MPI_Offset> low, std::vector<MPI_Offset> high,
                 int depth) {
  if (depth < 5 && !dice.one_in(4)) {
    const auto d = static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(low.size())));
    if (high[d] - low[d] >= 2) {
      const MPI_Offset cut = low[d] + 1 + dice.below(high[d] - low[d] - 1);
      std::vector<MPI_Offset> middle = high;
      middle[d] = cut;
      draw_pieces(dice, call, low, middle, depth + 1);
      low[d] = cut;
      draw_pieces(dice, call, low, high, depth + 1);
      return;
    }
  }
  if (dice.one_in(3)) return;
  MPI_Offset n = 1;
  std::vector<MPI_Offset> count;
  for (std::size_t d = 0; d < low.size(); ++d) {
    count.push_back(high[d] - low[d]);
    n *= count.back();
  }
  if (dice.one_in(12)) {
    count[0] = 0;
    n = 0;
  } else if (n == 1 && dice.one_in(2)) {
    count.clear();  // null: one element
  }
  call.starts.push_back(low);
  call.counts.push_back(count);
  call.elements += n;
}

bool is_empty(const std::vector<MPI_Offset>& count) {
  return std::count(count.begin(), count.end(), 0) > 0;
}

void shuffle(Dice& dice, Call& call) {
  if (dice.one_in(2)) return;
  for (std::size_t i = call.starts.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(i)));
    std::swap(call.starts[i - 1], call.starts[j]);
    std::swap(call.counts[i - 1], call.counts[j]);
  }
}

}  // namespace

void draw_shape(Dice& dice, Call& call, const std::vector<MPI_Offset>& low,
                const std::vector<MPI_Offset>& high, bool record, bool lists) {
  const std::size_t dims = low.size();
  constexpr std::array blocks{Shape::var1, Shape::vara, Shape::vars, Shape::varm};
  call.shape = lists ? Shape::varn : dice.pick(blocks);
  bool empty = false;
  for (std::size_t d = 0; d < dims; ++d) empty = empty || high[d] <= low[d];
  if (call.shape == Shape::varn) {
    // One record a piece: PnetCDF up to 1.14 gets more wrong.
    const MPI_Offset records = record && !empty ? high[0] - low[0] : 1;
    for (MPI_Offset r = 0; r < records && !empty; ++r) {
      std::vector<MPI_Offset> first = low, end = high;
      if (record) first[0] = low[0] + r, end[0] = first[0] + 1;
      draw_pieces(dice, call, first, end, 0);
    }
    shuffle(dice, call);
    // PnetCDF 1.15.1 then forgets how many pieces another pending request has, and overruns memory.
    while (is_pnetcdf_1_15() && !call.counts.empty() && is_empty(call.counts.back())) {
      call.starts.pop_back();
      call.counts.pop_back();
    }
    return;
  }
  call.start = low;
  call.count.assign(dims, 0);
  call.stride.assign(dims, 1);
  call.elements = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    const MPI_Offset extent = std::max<MPI_Offset>(high[d] - low[d], 0);
    if (extent > 0) {
      const MPI_Offset skip = dice.one_in(2) ? 0 : dice.below(extent);
      call.start[d] = low[d] + skip;
      if (call.shape == Shape::vars || call.shape == Shape::varm) call.stride[d] = 1 + dice.below(3);
      // PnetCDF up to 1.14 forgets such a stride.
      if (record && dims == 1) call.stride[d] = 1;
      if (record && d == 0 && is_pnetcdf_1_15()) call.stride[d] = 1;
      const MPI_Offset most = (extent - skip + call.stride[d] - 1) / call.stride[d];
      call.count[d] = dice.one_in(3) ? most : 1 + dice.below(most);
    } else if (call.start[d] > 0) {
      call.start[d] -= 1;
    }
    if (call.shape == Shape::var1) call.count[d] = 1;
    call.elements *= call.count[d];
  }
  if (call.shape == Shape::var1 && empty) {
    call.shape = Shape::vara;
    for (std::size_t d = 0; d < dims; ++d) call.count[d] = high[d] > low[d] ? 1 : 0;
    call.elements = 0;
  }
  if (call.shape == Shape::varm) {  // the dimensions in another order, perhaps with room between
    std::vector<std::size_t> order(dims);
    for (std::size_t d = 0; d < dims; ++d) order[d] = d;
    for (std::size_t d = dims; d > 1; --d)
      std::swap(order[d - 1], order[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(d)))]);
    call.imap.assign(dims, 1);
    MPI_Offset pitch = 1;
    for (std::size_t d : order) {
      call.imap[d] = pitch;
      pitch *= std::max<MPI_Offset>(call.count[d], 1);
    }
  }
}

void draw_face(Dice& dice, Call& call) {
  call.face = static_cast<Face>(dice.below(4));
  if (call.face == Face::as_variable) call.memory = memory_of(call.type);
  // No elements: flexible calls would return early; that is another test's matter.
  if (call.elements == 0) call.face = Face::typed;
  fill_buffer(call, dice.next(), dice.one_in(3));
}

}  // namespace forebay::test
