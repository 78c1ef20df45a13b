// File's own members with views: what as() and on() say, lists of pieces, pending calls that keep the view;
// and what must not compile.
#include "view_case.hpp"

namespace test {
namespace {

using View = Host<double**, Left>;

template <class V>
concept Fillable = requires(forebay::File file, forebay::Box box, V view) { file.get_all(box, view); };
template <class V>
concept FillableAs = requires(forebay::File file, forebay::Box box, V view) {
  file.iget(box, forebay::kokkos::as<float>(view));
};
static_assert(Fillable<View> && !Fillable<View::const_type> && FillableAs<View> &&
              !FillableAs<View::const_type>);

void check(const View& view, double factor, int of) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) {
      const double want = factor * (100 * of + 10 * i + k);
      if (view(i, k) < want || view(i, k) > want) fail("a wrong element of a view");
    }
  }
}

View make(double factor) {
  const View view("put", 3, 4);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) view(i, k) = factor * (100 * rank + 10 * i + k);
  }
  return view;
}

}  // namespace

void views_by_members() {
  const View got("got", 3, 4);
  const View::execution_space exec;
  forebay::File file(MPI_COMM_WORLD, "members.dat", forebay::Mode::read_write | forebay::Mode::create);
  const forebay::Box box{.shape = {3 * ranks, 4}, .start = {3 * rank, 0}};
  file.put_all(box, make(1));
  file.get_all(box, got);
  check(got, 1, rank);

  // Rows in turn, as floats, by a list in the view's row-major order.
  const std::int64_t behind = 96 * ranks;
  const std::vector<std::int64_t> rows{4 * rank, 4 * (ranks + rank), 4 * (2 * ranks + rank)}, fours{4, 4, 4};
  const forebay::Pieces list(rows, fours, behind);
  file.put(list, forebay::kokkos::as<float>(exec, make(2)), forebay::ByteOrder::big);
  Kokkos::deep_copy(got, 0);
  file.get(list, forebay::kokkos::as<float>(got), forebay::ByteOrder::big);
  check(got, 2, rank);
  float one = 0;
  file.get({behind + 4 * (4 * (ranks + rank) + 3)}, std::span(&one, 1), forebay::ByteOrder::big);
  if (one < 2 * (100 * rank + 13) || one > 2 * (100 * rank + 13)) fail("a wrong float in the file");

  // The request is all that holds the view.
  file.iput(box, forebay::kokkos::on(exec, make(3)));
  forebay::Box of_next = box;
  of_next.start[0] = 3 * ((rank + 1) % ranks);
  file.iget(of_next, got);
  file.wait_all();
  check(got, 3, (rank + 1) % ranks);
  file.close();
}

}  // namespace test
