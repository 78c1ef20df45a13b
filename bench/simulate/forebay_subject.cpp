// The whole CoreFile: opens, writes, closes, and reads again.
#include <algorithm>
#include <memory>

#include "base/hints.hpp"
#include "engine/core_file.hpp"
#include "rank.hpp"
#include "request/memory_stream.hpp"
#include "subject.hpp"
#include "watch.hpp"

namespace forebay::simulate {
namespace {

constexpr std::int64_t kCommitCalls = 8;

constexpr const char* kStages[] = {"walk",  "pool", "scatter", "node_wait", "exchange",
                                   "write", "read", "pick",    "agree"};
static_assert(std::size(kStages) == static_cast<std::size_t>(Stage::count));

class ForebayRun {
 public:
  ForebayRun(const Job& job, Way way) : job_(job), way_(way), commit_(way != Way::strict) {}

  Outcome all() {
    write();
    if (fine()) read();
    return std::move(outcome_);
  }

 private:
  bool fine() const { return job_.ranks.all(outcome_.failure.empty()); }
  void note(const Status& status, const char* what) {
    if (!status.ok() && outcome_.failure.empty())
      outcome_.failure =
          std::string(what) + " on rank " + std::to_string(job_.ranks.rank()) + ": " + status.message();
  }

  void open(bool writes, std::unique_ptr<CoreFile>& file) {
    const Opener opener(job_.file, job_.ranks.rank(), writes && commit_);
    FileOptions options;
    options.path = job_.path;
    options.mode = {.reads = !writes, .writes = writes, .creates = writes};
    options.opener = &opener;
    options.driver = "simulate";
    options.keeping = way_ == Way::independent ? Keeping::by_node : Keeping::by_rank;
    options.tells_freed_space = true;  // nothing is ever freed
    options.needs_handle = true;
    note(parse_hints(
             options.settings,
             std::string("forebay_storage=mpiio;forebay_link=message;forebay_keeper=none;forebay_mode=") +
                 (commit_ ? "commit;" : "strict;") + job_.hints,
             Origin::call),
         "hints");
    if (fine()) note(CoreFile::open(job_.ranks, options, file), "open");
    if (!fine()) file.reset();
  }

  void write() {
    Load load(job_.pattern, job_.ranks.rank(), true);
    std::vector<MemorySource> sources;
    for (std::size_t r = 0; r < load.requests(); ++r) sources.emplace_back(load.memory(r));
    std::vector<Put> puts;
    for (std::size_t r = 0; r < load.requests(); ++r) puts.push_back({&load.cursor(r), &sources[r]});
    const Watch opening(job_.ranks);
    std::unique_ptr<CoreFile> file;
    open(true, file);
    outcome_.open = opening.stop();
    if (file == nullptr) return;
    if (commit_ && !file->commits()) note({Code::unsupported, "it is strict"}, "commit mode");
    const Watch writing(job_.ranks);
    const auto calls = static_cast<std::size_t>(commit_ ? kCommitCalls : 1);
    for (std::size_t c = 0; c < calls; ++c) {
      const std::size_t begin = puts.size() * c / calls, end = puts.size() * (c + 1) / calls;
      const auto some = std::span(puts).subspan(begin, end - begin);
      note(way_ == Way::independent ? file->write(some) : file->write_all(some), "write");
    }
    if (commit_) note(file->flush(), "flush");
    outcome_.write = writing.stop();
    count(file->counters());
    const Watch closing(job_.ranks);
    note(file->close(), "close");
    outcome_.close = closing.stop();
  }

  void count(const Counters& counters) {
    std::vector<std::int64_t> most = {counters.rounds}, sums = {counters.messages, counters.message_bytes};
    for (const double seconds : counters.seconds) most.push_back(static_cast<std::int64_t>(seconds * 1e9));
    job_.ranks.reduce(most, Communicator::Op::maximum);
    job_.ranks.reduce(sums, Communicator::Op::sum);
    outcome_.rounds = most[0];
    outcome_.messages = sums[0];
    outcome_.message_bytes = sums[1];
    for (std::size_t i = 1; i < most.size(); ++i) {
      if (most[i] > 0) outcome_.stages.emplace_back(kStages[i - 1], static_cast<double>(most[i]) * 1e-9);
    }
  }

  void read() {
    Load load(job_.pattern, job_.ranks.rank(), false);
    std::vector<MemorySink> sinks;
    for (std::size_t r = 0; r < load.requests(); ++r) sinks.emplace_back(load.memory(r));
    std::vector<Get> gets;
    for (std::size_t r = 0; r < load.requests(); ++r) gets.push_back({&load.cursor(r), &sinks[r]});
    std::unique_ptr<CoreFile> file;
    open(false, file);
    if (file == nullptr) return;
    const Watch reading(job_.ranks);
    note(file->read_all(gets), "read");
    outcome_.read = reading.stop();
    note(file->close(), "close after reading");
    if (const std::int64_t wrong = load.first_wrong(); wrong >= 0)
      note({Code::internal, "byte " + std::to_string(wrong) + " is wrong"}, "what was read");
  }

  const Job& job_;
  Way way_;
  bool commit_;
  Outcome outcome_;
};

}  // namespace

Outcome run_forebay(const Job& job, Way way) {
  return ForebayRun(job, way).all();
}

}  // namespace forebay::simulate
