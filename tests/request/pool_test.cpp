// The pool against a plain map of what should be in it.
#include "request/pool.hpp"

#include <map>

#include "reference.hpp"
#include "request/memory_source.hpp"
#include "request/strided.hpp"

namespace forebay::test {
namespace {

struct Expected {
  Put put;
  std::int64_t own;
  std::int64_t user;
};

PooledRequest make_request(std::int64_t own, std::int64_t user) {
  PooledRequest request;
  const StridedDim dims[] = {{8, 2}};
  request.cursor = std::make_unique<StridedCursor>(0, 0, 4, dims);
  if (own > 0) request.bytes = std::make_unique<std::byte[]>(static_cast<std::size_t>(own));
  request.source = std::make_unique<MemorySource>(request.bytes.get());
  request.own_bytes = own;
  request.user_bytes = user;
  return request;
}

bool same(const std::vector<Put>& a, const std::vector<Put>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Put& x, const Put& y) { return x.cursor == y.cursor && x.source == y.source; });
}

TEST(Pool, KeepsOrderAndAccounts) {
  Random random(test_seed());
  Pool pool;
  std::map<Pool::Id, Expected> want;
  Pool::Id last = 0;
  for (int step = 0; step < 20000 && !HasFatalFailure(); ++step) {
    if (!random.one_in(3)) {
      PooledRequest request = make_request(random(0, 40), random(0, 40));
      const Expected expected{
          {request.cursor.get(), request.source.get()}, request.own_bytes, request.user_bytes};
      const Pool::Id id = pool.add(std::move(request));
      ASSERT_GT(id, last);
      last = id;
      want[id] = expected;
    } else if (random.one_in(300)) {
      pool.clear();
      want.clear();
    } else {
      std::vector<Pool::Id> ids;
      for (std::int64_t i = random(0, 4); i > 0; --i) ids.push_back(random(0, last + 2));
      if (!want.empty() && random.one_in(2)) ids.push_back(want.begin()->first);
      if (!ids.empty() && random.one_in(5)) ids.push_back(ids.front());
      std::vector<Put> some;
      for (const auto& [id, expected] : want) {
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) some.push_back(expected.put);
      }
      ASSERT_TRUE(same(pool.puts(ids), some));
      ASSERT_EQ(pool.remove(ids), some.size());
      for (const Pool::Id id : ids) {
        want.erase(id);
        ASSERT_EQ(pool.find(id), nullptr);
      }
    }
    ASSERT_EQ(pool.size(), want.size());
    ASSERT_EQ(pool.empty(), want.empty());
    std::int64_t own = 0;
    std::int64_t user = 0;
    if (step % 50 != 0) continue;
    std::vector<Put> all;
    for (const auto& [id, expected] : want) {
      all.push_back(expected.put);
      own += expected.own;
      user += expected.user;
      ASSERT_EQ(pool.find(id)->cursor.get(), expected.put.cursor);
    }
    ASSERT_TRUE(same(pool.puts(), all));
    ASSERT_EQ(pool.own_bytes(), own);
    ASSERT_EQ(pool.user_bytes(), user);
  }
}

TEST(Pool, AHundredThousandRemovedOneByOne) {
  Pool pool;
  for (int i = 0; i < 100000; ++i) pool.add(make_request(0, 8));
  EXPECT_EQ(pool.user_bytes(), 800000);
  for (Pool::Id id = 1; id <= 100000; ++id) ASSERT_EQ(pool.remove({&id, 1}), 1u);
  EXPECT_TRUE(pool.empty());
  EXPECT_EQ(pool.user_bytes(), 0);
}

}  // namespace
}  // namespace forebay::test
