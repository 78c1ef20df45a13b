// The command line of `forebay`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "announce.hpp"
#include "commands.hpp"
#include "forebay/version.h"

namespace {

using namespace forebay::tools;

constexpr const char* run_footer =
    "The options are read up to PROGRAM; all that follows is PROGRAM's own. Under a launcher: mpiexec -n 64 "
    "forebay run ./model\n"
    "Exit status: the program's; 2 for a wrong option, hint or report file, 126 and 127 where PROGRAM cannot "
    "be executed or found.";

/// The arguments without what the parser would take amiss: a "--" between run's options and PROGRAM, which
/// would end PROGRAM's being taken as it is, and "--hints=" of an empty variable, which would take PROGRAM.
std::vector<std::string> plain_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.front() != "run") return words;
  for (std::size_t i = 1; i < words.size() && words[i].starts_with("-"); ++i) {
    while (i < words.size() && (words[i] == "--stats=" || words[i] == "--hints=" || words[i] == "--mode="))
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    if (i == words.size() || !words[i].starts_with("-")) break;
    if (words[i] == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (words[i] == "--stats" || words[i] == "--hints" || words[i] == "--mode") ++i;
  }
  return words;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(
      "Forebay gathers the small writes of parallel HDF5 and PnetCDF programs into few, large, aligned ones.",
      "forebay");
  app.set_version_flag("--version", std::string("forebay " FOREBAY_VERSION));
  app.require_subcommand(1);
  app.footer("`forebay COMMAND --help` tells more of each.");

  RunOptions run_options;
  CLI::App* run_command =
      app.add_subcommand("run", "run a program, unchanged, with Forebay under its HDF5 and PnetCDF");
  run_command->usage("Usage: forebay run [OPTIONS] PROGRAM [ARGUMENTS...]");
  run_command->add_option("--stats", run_options.stats, "write a report of each file to FILE (JSON)")
      ->type_name("FILE");
  run_command
      ->add_option("--hints", run_options.hints, "hints, as key=value;key=value (`forebay hints` lists them)")
      ->type_name("HINTS");
  run_command
      ->add_option(
          "--mode", run_options.mode,
          "when bytes must be in the file: automatic (the default: gathered over calls, and written "
          "however the program ends), strict (when a write returns), or commit (gathered; lost where the "
          "program is killed)")
      ->type_name("MODE");
  run_command->add_flag("--verbose", run_options.verbose,
                        "tell what is set and which driver each library runs on");
  run_command->prefix_command();
  run_command->footer(run_footer);

  DoctorOptions doctor_options;
  CLI::App* doctor_command =
      app.add_subcommand("doctor", "find out, by writing files, whether Forebay works here");
  doctor_command->add_flag("--json", doctor_options.json, "print JSON");
  doctor_command
      ->add_option("--dir", doctor_options.folder,
                   "write the test files there (default: the temporary folder)")
      ->type_name("FOLDER");
  doctor_command->add_option("FOLDER", doctor_options.folder, "the same as --dir FOLDER")->type_name("");
  doctor_command->footer("Exit status: 0 where every driver that is installed would be active, else 1.");

  DropinOptions dropin_options;
  CLI::App* dropin_command =
      app.add_subcommand("dropin", "make a PnetCDF library with Forebay in it, for a shared PnetCDF >= 1.15");
  dropin_command
      ->add_option("--library", dropin_options.library,
                   "the shared PnetCDF that programs use (default: the one that Forebay was built with)")
      ->type_name("FILE");
  dropin_command
      ->add_option("--archive", dropin_options.archive,
                   "its static library, from the same build (default: libpnetcdf.a beside it)")
      ->type_name("FILE");
  dropin_command
      ->add_option(
          "--with", dropin_options.with,
          "another archive or library that the archive needs; may be repeated (default: libgio.a beside it)")
      ->type_name("FILE");
  dropin_command
      ->add_option("--output", dropin_options.output,
                   "put the library there (default: where forebay run looks, in the installation, else in "
                   "your data folder)")
      ->type_name("FOLDER");
  dropin_command
      ->add_option("--compiler", dropin_options.compiler,
                   "what links it (default: CXX, else the C++ compiler)")
      ->type_name("COMMAND");
  dropin_command->footer(
      "PnetCDF hides its driver from 1.15 on, so that none can be put in its place when a program starts. "
      "The library made "
      "here is the site's, linked again with Forebay's driver in it; it is checked before it is put in its "
      "place.\n"
      "Exit status: 0 where it was made and Forebay is active in it, else 1.");

  std::string report_file;
  bool report_json = false;
  CLI::App* report_command =
      app.add_subcommand("report", "print the report that forebay run --stats FILE wrote");
  report_command->add_option("FILE", report_file, "the report")->required()->type_name("");
  report_command->add_flag("--json", report_json, "print JSON, checked");

  HintsOptions hints_options;
  CLI::App* hints_command = app.add_subcommand("hints", "list all hints with their defaults and meanings");
  hints_command->add_flag("--markdown", hints_options.markdown, "as a page of documentation");
  CLI::Option* check =
      hints_command
          ->add_option("--check", hints_options.config,
                       "instead: whether the hints of the environment and of CONFIG (a TOML file; "
                       "else that of FOREBAY_CONFIG) are right")
          ->type_name("[CONFIG]")
          ->expected(0, 1);
  hints_command
      ->add_option("--for", hints_options.file, "with --check: the hints that a file of this name gets")
      ->type_name("FILE")
      ->needs(check);

  try {
    std::vector<std::string> words = plain_arguments(argc, argv);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp& request) {
    return app.exit(request);
  } catch (const CLI::CallForVersion& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    return give_up(exit_usage, (unknown.empty() || unknown.front().starts_with("-")
                                    ? std::string(error.what())
                                    : "there is no command '" + unknown.front() + "'") +
                                   "; see forebay --help");
  }
  if (*run_command) {
    run_options.program = run_command->remaining();
    if (run_options.program.empty())
      return give_up(exit_usage, "run needs a program; see forebay run --help");
    if (run_options.program.front().starts_with("-")) {
      return give_up(exit_usage,
                     "run has no option " + run_options.program.front() + "; see forebay run --help");
    }
    return run(run_options);
  }
  if (*dropin_command) return make_dropin(dropin_options);
  if (*doctor_command) return doctor(doctor_options);
  if (*report_command) return print_report(report_file, report_json);
  hints_options.check = check->count() > 0;
  return print_hints(hints_options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    return give_up(exit_failed, error.what());
  }
}
