// E3SM's history files over its recorded decompositions: every variable as a list of pieces, waited for once
// a record or, as SCORPIO does with its blocks of requests, several times.
#include <pnetcdf.h>

#include <utility>

#include "e3sm_case.hpp"
#include "pnetcdf_call.hpp"
#include "pnetcdf_history.hpp"
#include "pnetcdf_row.hpp"

namespace forebay::bench {
namespace {

class E3smRow final : public PnetcdfRow {
 public:
  E3smRow(const Setting& setting, std::vector<Decomposition> decompositions, History history, int waits)
      : setting_(setting),
        waits_(waits),
        decompositions_(std::move(decompositions)),
        history_(std::move(history)) {
    for (const Decomposition& over : decompositions_) lists_.emplace_back(over);
    std::size_t total = 0;
    for (std::int64_t record = 0; record < history_.records; ++record) {
      for (const Variable& variable : history_.variables) {
        begins_.push_back(total);
        if (!variable.record && record > 0) continue;
        for (const Piece& piece : pieces_of(history_, variable, decompositions_, setting_.rank)) {
          const std::int64_t size = piece.length * static_cast<std::int64_t>(size_of(variable.type));
          count(1, size);
          total += static_cast<std::size_t>(size);
        }
        total = (total + 7) / 8 * 8;
      }
    }
    values_.resize(total);
    fill_values(values_, static_cast<std::uint64_t>(setting.rank) + 1);
  }

  // Those that whoever reads the file can work out, instead of those without a zero byte.
  void make_all_values() {
    const std::size_t variables = history_.variables.size();
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const Variable& variable = history_.variables[i % variables];
      const auto record = static_cast<std::int64_t>(i / variables);
      if (!variable.record && record > 0) continue;
      std::byte* to = values_.data() + begins_[i];
      for (const Piece& piece : pieces_of(history_, variable, decompositions_, setting_.rank)) {
        make_values(variable, record, piece.offset, piece.length, to);
        to += static_cast<std::size_t>(piece.length) * size_of(variable.type);
      }
    }
  }

  void define(int file) override { ids_ = define_history(file, history_); }

  void transfer(int file, Way way) override {
    const std::size_t variables = history_.variables.size();
    std::vector<int> requests, statuses;
    requests.reserve(variables);
    for (std::int64_t record = 0; record < history_.records; ++record) {
      if (setting_.before_step) setting_.before_step();
      for (VarnLists& lists : lists_) lists.aim(record);
      for (int wait = 0; wait < waits_; ++wait) {
        const Range part = part_of(static_cast<std::int64_t>(variables), wait, waits_);
        requests.clear();
        for (std::int64_t v = part.begin; v < part.end; ++v)
          post(file, way, static_cast<std::size_t>(v), record, requests);
        statuses.assign(requests.size(), NC_NOERR);
        check(ncmpi_wait_all(file, static_cast<int>(requests.size()), requests.data(), statuses.data()),
              "ncmpi_wait_all");
        for (const int status : statuses) check(status, "ncmpi_wait_all, a request");
      }
    }
  }

 private:
  std::span<std::byte> memory() override { return values_; }
  void found(const std::vector<int>& ids) override { ids_ = ids; }

  void post(int file, Way way, std::size_t v, std::int64_t record, std::vector<int>& requests) {
    const Variable& variable = history_.variables[v];
    if (!variable.record && record > 0) return;
    std::byte* const from = place(
        way, values_.data() + begins_[static_cast<std::size_t>(record) * history_.variables.size() + v]);
    if (variable.decomposition >= 0) {
      const VarnLists& lists = lists_[static_cast<std::size_t>(variable.decomposition)];
      if (lists.size() == 0) return;
      int* request = &requests.emplace_back(NC_REQ_NULL);
      if (way == Way::Put) {
        iput_pieces(file, ids_[v], variable, lists, from, request);
      } else {
        iget_pieces(file, ids_[v], variable, lists, from, request);
      }
    } else if (setting_.rank == 0) {
      int* request = &requests.emplace_back(NC_REQ_NULL);
      const auto shape = history_.shape(variable);
      if (way == Way::Put) {
        iput_whole(file, ids_[v], variable, shape, record, from, request);
      } else {
        iget_whole(file, ids_[v], variable, shape, record, from, request);
      }
    }
  }

  Setting setting_;
  int waits_;
  std::vector<Decomposition> decompositions_;
  History history_;
  std::vector<VarnLists> lists_;
  std::vector<std::size_t> begins_;  // by record and variable, into values_
  std::vector<std::byte> values_;
  std::vector<int> ids_;
};

}  // namespace

std::unique_ptr<Row> make_e3sm_row(const Setting& setting, const std::string& map, bool ocean, int waits) {
  std::vector<Decomposition> over = cut_e3sm(setting, map, ocean);
  History history = make_history(
      over, setting.steps_or(ocean ? by_size(setting.size, 1, 4, 8, 16) : by_size(setting.size, 1, 2, 2, 4)));
  if (!ocean) thin_out(history, by_size(setting.size, 16, 8, 3, 1));
  return std::make_unique<E3smRow>(setting, std::move(over), std::move(history), waits);
}

std::unique_ptr<Row> make_history_row(const Setting& setting, std::vector<Decomposition> over,
                                      std::int64_t records) {
  History history = make_history(over, records);
  auto row = std::make_unique<E3smRow>(setting, std::move(over), std::move(history), 1);
  row->make_all_values();
  return row;
}

}  // namespace forebay::bench
