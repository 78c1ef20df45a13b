// What the demo is about: a climate-like history file, by three kinds of calls, stock and under Forebay.
#pragma once

#include <string>
#include <vector>

#include "cases.hpp"
#include "verify.hpp"

namespace forebay::bench {

class DemoSubject final : public Subject {
 public:
  DemoSubject(Case of, std::int64_t records, int ranks);

  std::string title() const;

  // The peer forebay-null moves nothing: what the path alone takes.
  std::vector<Peer> peers(const std::string& version, const std::string& romio) const override;
  std::int64_t bytes_of_rows(Size size, int ranks) const override;
  FileComparison compare(const std::string& reference, const std::string& path) const override;
  void check_reference(const std::string& path, std::int64_t bytes) const override;
  std::string driver_of(const std::string& row) const override;
  std::vector<std::string> writer_options() const override;

 private:
  Case of_;
  std::int64_t columns_ = 0;
  std::vector<Coverage> coverage_;
  History history_;
};

}  // namespace forebay::bench
