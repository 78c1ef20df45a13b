// Plain contiguous writes, as one of the demo's ways.
#include "plain_writes.hpp"
#include "way.hpp"

namespace forebay::bench {
namespace {

class LimitWay final : public Way {
 public:
  LimitWay(std::int64_t bytes, MPI_Comm comm) : writes_(bytes, comm) {}

  void create(const std::string& path) override { writes_.create(path); }
  void aim(std::int64_t) override {}
  void write(std::int64_t) override { writes_.write(); }
  void close() override { writes_.close(); }

 private:
  PlainWrites writes_;
};

}  // namespace

std::unique_ptr<Way> make_limit_way(std::int64_t bytes, MPI_Comm comm) {
  return std::make_unique<LimitWay>(bytes, comm);
}

}  // namespace forebay::bench
