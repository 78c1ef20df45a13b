// Plans the runs, starts them, and judges what they left behind.
#include "demonstration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "machine.hpp"
#include "memory_watch.hpp"

namespace forebay::bench {
namespace fs = std::filesystem;
namespace {

const std::vector<Form> all_forms = {
    {"pnetcdf", "pnetcdf", "PnetCDF, iput_varn for each variable, one wait_all a record"},
    {"hdf5", "hdf5", "HDF5, one H5Dwrite for each dataset"},
    {"hdf5-multi", "hdf5", "HDF5, one H5Dwrite_multi a record"},
};

bool is_stock(Stack stack) {
  return stack == Stack::Romio || stack == Stack::Ompio;
}

}  // namespace

Demonstration::Demonstration(DemoOptions options)
    : options_(std::move(options)), cut_(open_case(options_.of)) {
  const std::vector<Decomposition> first = cut_(0, options_.ranks);
  history_ = make_history(first, options_.records);
  coverage_ = cover(cut_, options_.ranks);
  std::int64_t bytes = 0;
  for (const Variable& variable : history_.variables)
    bytes += volume(history_.shape(variable)) * static_cast<std::int64_t>(size_of(variable.type)) *
             (variable.record ? options_.records : 1);
  results_.title =
      history_.title + ", " +
      (options_.of.map == "generated" ? fmt::format("generated: cubed sphere of {} columns, {} levels",
                                                    volume(first[0].shape), options_.of.levels)
                                      : "recorded map " + fs::path(options_.of.map).filename().string());
  results_.ranks = options_.ranks;
  results_.records = options_.records;
  results_.machine = describe_machine();

  require_programs({options_.writer, options_.forebay});
  // Two references and the files of a run, and what else a run needs there.
  scratch_ = std::make_unique<Scratch>("forebay-demo", options_.directory,
                                       bytes * 11 / 2 + (std::int64_t{64} << 20), options_.keep);
  results_.place = scratch_->path().parent_path().string();

  allow_oversubscription(options_.ranks);
  romio_ = find_romio();
  if (romio_.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");

  for (const Form& form : all_forms) {
    if (!options_.only.empty() && form.library != options_.only) continue;
    for (const Stack stack : {Stack::Romio, Stack::Ompio, Stack::Forebay, Stack::ForebayNull})
      results_.ways.push_back({form, stack, {}, std::nullopt, nullptr});
    if (results_.verdicts.empty() || results_.verdicts.back().library != form.library)
      results_.verdicts.push_back({form.library, true});
  }
}

bool Demonstration::Step::under_forebay() const {
  return !is_stock(ways.front()->stack);
}

std::string Demonstration::Step::name() const {
  const std::string stack = stack_title(ways.front()->stack);
  const std::string what =
      with_limit ? stack + ", and plain writes" : fmt::format("{}, {}", ways.front()->form.api, stack);
  if (purpose == Purpose::Time) return fmt::format("{}, repeat {}", what, repeat + 1);
  return what + (purpose == Purpose::Baseline ? ", memory without puts" : ", memory");
}

std::string Demonstration::Step::tag() const {
  const std::string stack = stack_id(ways.front()->stack);
  if (with_limit) return fmt::format("{}.{}", stack, repeat);
  return fmt::format("{}.{}.{}", ways.front()->form.api, stack,
                     purpose == Purpose::Time     ? std::to_string(repeat)
                     : purpose == Purpose::Memory ? "memory"
                                                  : "baseline");
}

std::vector<Demonstration::Step> Demonstration::plan() {
  std::vector<Step> steps;
  // All take turns within a repeat, each time in another order; stock first, for a reference.
  std::vector<Step> turns;
  Step others{{}, Purpose::Time, 0, true};
  for (WayResult& way : results_.ways) {
    if (way.stack == Stack::ForebayNull)
      others.ways.push_back(&way);
    else
      turns.push_back({{&way}, Purpose::Time});
  }
  turns.push_back(others);
  for (int repeat = 0; repeat < options_.repeat; ++repeat) {
    for (Step& turn : turns) {
      turn.repeat = repeat;
      steps.push_back(turn);
    }
    std::rotate(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(turns.size() / 3 + 1),
                turns.end());
  }
  // Watching a run slows it down, so these are others.
  std::string library;
  for (WayResult& way : results_.ways) {
    if (!options_.memory || way.stack == Stack::ForebayNull) continue;
    if (way.form.library != library) steps.push_back({{&way}, Purpose::Baseline});
    library = way.form.library;
    if (way.stack == Stack::Forebay || options_.stock_memory) steps.push_back({{&way}, Purpose::Memory});
  }
  return steps;
}

Results Demonstration::run() {
  const std::vector<Step> steps = plan();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    fmt::print(stderr, "[{}/{}] {} ... ", i + 1, steps.size(), steps[i].name());
    std::fflush(stderr);
    try {
      carry_out(steps[i]);
    } catch (...) {
      fmt::print(stderr, "\n");
      throw;
    }
  }
  return results_;
}

Command Demonstration::command_for(const Step& step, const std::vector<std::string>& outs,
                                   const std::string& stats, const std::string& json,
                                   const std::string& ready) const {
  Command command{launcher_words(options_.launcher, options_.ranks), {}};
  const auto add = [&](std::initializer_list<std::string> words) {
    command.words.insert(command.words.end(), words);
  };
  if (step.under_forebay()) {
    std::string hints = options_.hints;
    if (step.ways.front()->stack == Stack::ForebayNull)
      hints += (hints.empty() ? "" : ";") + std::string("forebay_storage=null");
    add({options_.forebay, "run", "--stats", stats});
    if (!hints.empty()) add({"--hints", hints});
  } else {
    for (const char* name : {"FOREBAY_HINTS", "FOREBAY_STATS", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG"})
      command.environment.emplace_back(name, std::nullopt);
    command.environment.emplace_back("OMPI_MCA_io",
                                     step.ways.front()->stack == Stack::Romio ? romio_ : "ompio");
  }
  add({options_.writer, "--map", options_.of.map, "--ne", std::to_string(options_.of.ne), "--levels",
       std::to_string(options_.of.levels), "--records", std::to_string(options_.records), "--json", json});
  for (const WayResult* way : step.ways) add({"--api", way->form.api});
  if (step.with_limit) add({"--api", "limit"});
  for (const std::string& out : outs) add({"--out", out});
  if (!ready.empty()) add({"--ready", ready});
  if (step.purpose == Purpose::Baseline) add({"--no-puts"});
  return command;
}

void Demonstration::carry_out(const Step& step) {
  const bool timed = step.purpose == Purpose::Time;
  const std::string tag = step.tag();
  std::vector<std::string> outs;
  for (const WayResult* way : step.ways)
    outs.push_back(scratch_->file(
        fmt::format("{}.{}.{}", tag, way->form.api, way->form.library == "hdf5" ? "h5" : "nc")));
  if (step.with_limit) outs.push_back(scratch_->file(tag + ".raw"));
  const std::string json = scratch_->file(tag + ".json"), stats = scratch_->file(tag + ".stats.json");
  const std::string ready = timed ? "" : scratch_->folder(tag + ".ready");
  MemoryWatch memory(ready, options_.ranks);

  Launch launch(step.name(), command_for(step, outs, stats, json, ready));
  const nlohmann::json said = launch.run(
      options_.limit * static_cast<int>(outs.size()), json, options_.ranks, "written", outs.size(),
      timed ? std::function<void()>() : [&] { memory.sample(); });

  results_.bytes = said.at("bytes");
  if (timed) results_.pieces = said.at("pieces");
  std::string progress;
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const nlohmann::json& one = said.at("written")[i];
    const Timing timing{one.at("create_s"), one.at("write_s"), one.at("close_s")};
    progress +=
        fmt::format("{}{} {:.3f} s", i == 0 ? "" : ", ", one.at("api").get<std::string>(), timing.total());
    if (timed) (i < step.ways.size() ? step.ways[i]->runs : results_.limit).push_back(timing);
  }
  fmt::print(stderr, "{}\n", progress);
  if (!timed) {
    if (!memory.began()) launch.fail("its ranks were never seen");
    weigh(*step.ways.front(), step.purpose, memory.peak(), memory.ranks_seen());
  }
  for (std::size_t i = 0; i < step.ways.size(); ++i) {
    WayResult& way = *step.ways[i];
    if (step.under_forebay()) {
      try {
        way.report = check_active(way, stats, outs[i]);
      } catch (const std::exception& error) {
        launch.fail(error.what());
      }
    }
    if (step.purpose != Purpose::Baseline && way.stack != Stack::ForebayNull) check_file(way, outs[i]);
  }
  outs.insert(outs.end(), {json, stats, ready});
  for (const std::string& left : outs) {
    const bool is_reference = std::any_of(references_.begin(), references_.end(),
                                          [&](const auto& reference) { return reference.second == left; });
    if (!left.empty() && !is_reference) scratch_->remove(fs::path(left).filename());
  }
}

nlohmann::json Demonstration::check_active(const WayResult& way, const std::string& stats,
                                           const std::string& out) const {
  nlohmann::json file = active_file(stats, out, way.form.library);
  if ((file.value("storage", "") == "null") != (way.stack == Stack::ForebayNull))
    throw std::runtime_error("Forebay wrote to another storage than it was told to: " + file.dump());
  const auto bytes = file.value("bytes", std::int64_t{0});
  if (bytes < results_.bytes)
    throw std::runtime_error(fmt::format("only {} of {} bytes went through Forebay", bytes, results_.bytes));
  return file;
}

void Demonstration::check_file(const WayResult& way, const std::string& out) {
  const Written written{history_, coverage_};
  const Form& form = way.form;
  const std::string name = form.api + ", " + stack_title(way.stack);
  const bool classic = form.library == "pnetcdf", stock = is_stock(way.stack);
  const auto reference = references_.find(form.library);
  if (reference == references_.end()) {
    const Comparison held = classic ? verify_pnetcdf(out, written) : verify_hdf5(out, written);
    if (!held.same())
      throw RunFailed(
          fmt::format("{}: the stock library's file does not hold what was written: {} elements differ, "
                      "the first is {}",
                      name, held.differences, held.first));
    references_[form.library] = out;
    return;
  }
  const Comparison found = classic ? compare_pnetcdf(reference->second, out, written, !stock)
                                   : compare_hdf5(reference->second, out);
  if (found.same()) return;
  const std::string message =
      fmt::format("{} against {}: {} differences, the first is {}", name,
                  fs::path(reference->second).filename().string(), found.differences, found.first);
  if (stock)
    throw RunFailed("the stock library's own files differ, so that nothing can be compared: " + message);
  fmt::print(stderr, "DIFFERENT: {}\n", message);
  for (Results::Verdict& verdict : results_.verdicts)
    if (verdict.library == form.library) verdict.identical = false;
}

// Memory beyond that of a stock run of the same form that creates, defines and closes the file and writes
// nothing.
void Demonstration::weigh(WayResult& way, Purpose purpose, std::int64_t peak, int ranks) {
  if (ranks == 0) return;  // all are on other machines
  if (purpose == Purpose::Baseline)
    baseline_memory_[way.form.library] = peak;
  else
    way.extra_memory = static_cast<double>(peak - baseline_memory_.at(way.form.library)) / ranks;
}

}  // namespace forebay::bench
