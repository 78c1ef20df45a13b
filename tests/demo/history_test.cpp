// The variables of the known cases, and values that do not depend on who makes them.
#include "history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace forebay::bench {
namespace {

std::vector<Decomposition> shapes(const std::vector<Shape>& of) {
  std::vector<Decomposition> made;
  for (std::size_t k = 0; k < of.size(); ++k) made.push_back({"D" + std::to_string(k + 1), of[k], {}});
  return made;
}

std::int64_t count(const History& history, int decomposition) {
  return std::count_if(history.variables.begin(), history.variables.end(),
                       [&](const Variable& one) { return one.decomposition == decomposition; });
}

TEST(History, HasTheVariablesOfTheAtmosphere) {
  const History history = make_history(shapes({{866}, {866}, {72, 866}}), 1);
  EXPECT_EQ(history.variables.size(), 414u);
  EXPECT_EQ(count(history, 0), 1);
  EXPECT_EQ(count(history, 1), 323);
  EXPECT_EQ(count(history, 2), 63);
  EXPECT_EQ(count(history, -1), 27);
  const auto records = std::count_if(history.variables.begin(), history.variables.end(),
                                     [](const Variable& one) { return one.record; });
  EXPECT_EQ(records, 399);
}

TEST(History, HasTheVariablesOfTheOcean) {
  const History history =
      make_history(shapes({{285}, {879}, {285, 100}, {879, 100}, {593, 100}, {285, 101}}), 1);
  EXPECT_EQ(history.variables.size(), 52u);
  EXPECT_EQ(count(history, 2), 25);
  EXPECT_EQ(count(history, -1), 11);
}

TEST(History, NamesAreUniqueAndShapesAreTheDecompositions) {
  for (const auto& of : {std::vector<Shape>{{9}},
                         {{9}, {9}, {3, 9}},
                         {{9}, {8}, {3, 7}},
                         {{4, 5}, {4, 5, 6}},
                         {{2}, {3}, {2, 4}, {3, 4}, {5, 4}, {2, 5}}}) {
    const std::vector<Decomposition> over = shapes(of);
    const History history = make_history(over, 2);
    std::set<std::string> names;
    std::set<std::uint64_t> ids;
    for (const Variable& one : history.variables) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name;
      EXPECT_TRUE(ids.insert(one.id).second) << one.name;
      if (one.decomposition >= 0) {
        EXPECT_EQ(history.shape(one), of[static_cast<std::size_t>(one.decomposition)]) << one.name;
      }
    }
    std::set<std::string> dimensions;
    for (const Dimension& one : history.dimensions)
      EXPECT_TRUE(dimensions.insert(one.name).second) << one.name;
  }
}

TEST(Values, AreTheSameWhoeverMakesThem) {
  for (const Type type : {Type::Float, Type::Double, Type::Int, Type::Text}) {
    Variable variable{"v", "", "", type, -1, true, {}, 3};
    const std::size_t size = size_of(type);
    std::vector<std::byte> whole(100 * size), part(10 * size), other(100 * size);
    make_values(variable, 4, 0, 100, whole.data());
    make_values(variable, 4, 50, 10, part.data());
    EXPECT_EQ(std::memcmp(whole.data() + 50 * size, part.data(), part.size()), 0);
    make_values(variable, 5, 0, 100, other.data());
    EXPECT_NE(whole, other);
    variable.id = 4;
    make_values(variable, 4, 0, 100, other.data());
    EXPECT_NE(whole, other);
  }
}

}  // namespace
}  // namespace forebay::bench
