// The subcommands of `forebay`; each returns the exit status.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::tools {

/// Exit statuses, beside 0 and those of the program that `run` becomes.
inline constexpr int exit_failed = 1;  ///< a check failed, or a file cannot be read
inline constexpr int exit_usage = 2;   ///< the command line, a hint, or the report's place is wrong
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

struct RunOptions {
  std::string stats;
  std::string trace;
  std::string hints;
  std::string mode;
  bool verbose = false;
  std::vector<std::string> program;  ///< and its arguments
};

/// Becomes the program, with Forebay preloaded; returns only where that fails.
int run(const RunOptions& options);

struct DropinOptions {
  std::string library;            ///< the site's shared PnetCDF; "": the one that Forebay was built with
  std::string archive;            ///< its static archive; "": libpnetcdf.a beside the library
  std::vector<std::string> with;  ///< further archives or libraries that the archive needs
  std::string output;             ///< the folder to write to; "": where forebay run looks
  std::string compiler;           ///< what links; "": CXX, else what is found
};

/// Makes, checks and installs a PnetCDF library with Forebay's driver in it.
int make_dropin(const DropinOptions& options);

struct DoctorOptions {
  bool json = false;
  std::string folder;  ///< where the test files are written; "" chooses; or a file, which is looked at
};

int doctor(const DoctorOptions& options);

struct ReportOptions {
  std::string file;     ///< "-": stdin
  std::string compare;  ///< another report, beside which it is shown
  bool json = false;
  bool csv = false;
  std::string html;  ///< the page to write; "-": stdout
};

int print_report(const ReportOptions& options);

struct TryOptions {
  int ranks = 0;  ///< 0: the program, or its own launcher, is started as it is
  int repeat = 3;
  std::vector<std::string> inputs;   ///< linked into each run's folder
  std::vector<std::string> outputs;  ///< patterns of files that the program writes elsewhere
  std::string folder;                ///< in which the runs' folders are made; "": this one
  std::string hints;
  std::string mode;
  std::string html;
  bool keep = false;
  std::vector<std::string> program;   ///< and its arguments
  std::vector<std::string> launcher;  ///< for `ranks`
};

/// Runs the program stock and under Forebay in turn, and compares.
int try_program(const TryOptions& options);

struct PlanOptions {
  int nodes = 0;
  int ranks_per_node = 0;
  std::string bytes;        ///< a rank
  std::int64_t pieces = 0;  ///< a rank
  std::int64_t stripe_count = 0;
  int domains = 1;
  int cards = 0;
  // As the hints of that name; "": the default.
  std::string stripe, aggregators_per_node, memory_bytes, rounds, owner_nodes;
  std::string json;  ///< a file to write instead; "-": stdout
};

/// Prints what a collective write would do on a machine.
int print_plan(const PlanOptions& options);

struct RecoverOptions {
  std::vector<std::string> what;  ///< files, folders, logs
  bool dry_run = false;
};

/// Brings what is in logs into the files that they are of.
int recover_files(const RecoverOptions& options);

struct WaitOptions {
  std::vector<std::string> files;
  int seconds = 0;  ///< at most; 0: as long as it takes
};

/// Waits until files that were closed in the background are complete.
int wait_for_files(const WaitOptions& options);

struct HintsOptions {
  bool markdown = false;
  bool check = false;
  std::string config;  ///< with check: the TOML file; "": that of FOREBAY_CONFIG
  std::string file;    ///< for which the settings are told
};
int print_hints(const HintsOptions& options);

}  // namespace forebay::tools
