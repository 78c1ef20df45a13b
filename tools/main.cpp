// The command line of `forebay`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "announce.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "forebay/version.h"

namespace {

using namespace forebay::tools;

constexpr const char* run_footer =
    "The options are read up to PROGRAM; all that follows is PROGRAM's own. Under a launcher: mpiexec -n 64 "
    "forebay run ./model\n"
    "Exit status: the program's; 2 for a wrong option, hint or report file, 126 and 127 where PROGRAM cannot "
    "be executed or found.";

/// The arguments without what the parser would take amiss: a "--" between the options of run or try and
/// PROGRAM, which would end PROGRAM's being taken as it is, and "--hints=" of an empty variable, which would
/// take PROGRAM.
std::vector<std::string> plain_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || (words.front() != "run" && words.front() != "try")) return words;
  constexpr const char* with_value[] = {"--stats",  "--trace", "--hints",  "--mode", "--ranks",
                                        "--repeat", "--input", "--output", "--dir",  "--html"};
  for (std::size_t i = 1; i < words.size() && words[i].starts_with("-"); ++i) {
    const auto is_option = [&](const char* end) {
      return std::ranges::any_of(with_value,
                                 [&](const char* name) { return words[i] == std::string(name) + end; });
    };
    while (i < words.size() && is_option("=")) words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    if (i == words.size() || !words[i].starts_with("-")) break;
    if (words[i] == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (is_option("")) ++i;
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
      ->add_option("--trace", run_options.trace,
                   "write a timeline of rounds, waits, file writes and reads of each rank to FILE; "
                   "ui.perfetto.dev opens it")
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
  CLI::App* doctor_command = app.add_subcommand(
      "doctor", "find out, by writing files, whether Forebay works here; or look at a file");
  doctor_command->add_flag("--json", doctor_options.json, "print JSON");
  doctor_command
      ->add_option("--dir", doctor_options.folder,
                   "write the test files there (default: the temporary folder)")
      ->type_name("FOLDER");
  doctor_command
      ->add_option(
          "FOLDER|FILE", doctor_options.folder,
          "a folder is the same as --dir; of a file it is told where it lies, whether a log has some of "
          "it (forebay_log), and whether its header fits; nothing is written")
      ->type_name("");
  doctor_command->footer(
      "Exit status: 0 where every driver that is installed would be active, else 1. Of a file: 0 where "
      "nothing "
      "is missing, 1 where something is, or the file cannot be read.");

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

  ReportOptions report_options;
  std::vector<std::string> compared;
  CLI::App* report_command =
      app.add_subcommand("report", "show the report that forebay run --stats FILE wrote");
  CLI::Option* report_file =
      report_command->add_option("FILE", report_options.file, "the report; - is stdin")->option_text(" ");
  std::vector<CLI::Option*> forms{
      report_command->add_flag("--json", report_options.json, "print JSON, checked"),
      report_command->add_flag("--csv", report_options.csv,
                               "print a table with one row a file, all counters (RFC 4180)"),
      report_command
          ->add_option("--html", report_options.html,
                       "write one page with plots and advice, which needs no network")
          ->type_name("OUT.html"),
      report_command
          ->add_option("--compare", compared, "print two reports side by side, their files matched by name")
          ->type_name("FILE")
          ->option_text("A B")
          ->expected(2)};
  forms.back()->excludes(report_file);
  report_command->footer(
      "Exit status: 0; 1 where a report cannot be read, 2 where the page must not be written.");

  TryOptions try_options;
  CLI::App* try_command = app.add_subcommand(
      "try", "run a program stock and under Forebay in turn, compare its files, tell the gain");
  try_command->usage(
      "Usage: forebay try [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
      "       forebay try [OPTIONS] -- mpiexec -n 4 PROGRAM [ARGUMENTS...]");
  try_command->add_option("--ranks", try_options.ranks, "start PROGRAM on so many ranks, by mpiexec")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  try_command->add_option("--repeat", try_options.repeat, "how often each way (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  try_command
      ->add_option("--input", try_options.inputs,
                   "a file or folder that PROGRAM reads, linked into each run's folder; may be repeated")
      ->type_name("PATH")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  try_command
      ->add_option("--output", try_options.outputs,
                   "files that PROGRAM writes elsewhere, with wildcards in quotes; may be repeated")
      ->type_name("GLOB")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  try_command->add_option("--dir", try_options.folder, "make the runs' folders there (default: here)")
      ->type_name("FOLDER");
  try_command->add_option("--hints", try_options.hints, "hints for the runs under Forebay")
      ->type_name("HINTS");
  try_command->add_option("--mode", try_options.mode, "mode of the runs under Forebay")->type_name("MODE");
  try_command->add_option("--html", try_options.html, "write one page with the times, too")
      ->type_name("OUT.html");
  try_command->add_flag("--keep", try_options.keep, "keep the runs' folders");
  try_command->prefix_command();
  try_command->footer(
      "Each run has a folder of its own, made in this one (--dir: elsewhere) and deleted at the end, unless "
      "files "
      "differ. PROGRAM runs there: a path to PROGRAM itself is found all the same, but files that it reads "
      "by a path "
      "relative to this folder need --input PATH. All files that it writes there are compared, HDF5's and "
      "netCDF's by "
      "what they hold where bytes differ.\n"
      "Exit status: 0 where files are identical, whatever the gain; 1 where they differ or a run fails; 2 "
      "for a wrong "
      "option; 130 after Ctrl-C, which leaves nothing.");

  PlanOptions plan_options;
  CLI::App* plan_command =
      app.add_subcommand("plan", "tell what a collective write would do on a machine of that size");
  plan_command->add_option("--nodes", plan_options.nodes, "nodes")->required()->type_name("N");
  plan_command->add_option("--ranks-per-node", plan_options.ranks_per_node, "ranks on each node")
      ->required()
      ->type_name("Q");
  plan_command
      ->add_option("--bytes", plan_options.bytes, "what each rank puts, with k, m, g or t (powers of 1024)")
      ->required()
      ->type_name("B");
  plan_command->add_option("--pieces", plan_options.pieces, "in how many pieces, all of one size")
      ->required()
      ->type_name("P");
  plan_command
      ->add_option("--stripe", plan_options.stripe, "the file's stripe (default: 512k); forebay_stripe_bytes")
      ->type_name("S");
  plan_command
      ->add_option("--stripe-count", plan_options.stripe_count,
                   "storage targets that have the file's stripes by turns (default: not known)")
      ->type_name("T");
  plan_command
      ->add_option("--aggregators-per-node", plan_options.aggregators_per_node,
                   "owners on each node; forebay_aggregators_per_node")
      ->type_name("A");
  plan_command
      ->add_option("--domains", plan_options.domains, "NUMA domains of a node that have ranks (default: 1)")
      ->type_name("D");
  plan_command->add_option("--cards", plan_options.cards, "network cards of a node (default: not known)")
      ->type_name("C");
  plan_command
      ->add_option("--memory-bytes", plan_options.memory_bytes,
                   "the bound for each rank (default: 16m); forebay_memory_bytes")
      ->type_name("M");
  plan_command
      ->add_option("--rounds", plan_options.rounds, "automatic (the default), window or wide; forebay_rounds")
      ->type_name("KIND");
  plan_command
      ->add_option("--owner-nodes", plan_options.owner_nodes,
                   "nodes that own: all (the default), a count, or ranges as 0-3,8; forebay_owner_nodes")
      ->type_name("NODES");
  plan_command
      ->add_option("--json", plan_options.json, "write JSON to FILE instead, or to stdout where FILE is -")
      ->type_name("FILE");
  plan_command->footer(
      "The ranks' pieces interleave and fill the file. Other hints come from FOREBAY_HINTS.\n"
      "Exit status: 0; 1 where FILE cannot be written; 2 where there is no such machine or write.");

  RecoverOptions recover_options;
  CLI::App* recover_command =
      app.add_subcommand("recover", "bring what an ended program left in logs into its files (forebay_log)");
  recover_command
      ->add_option("WHAT", recover_options.what, "a file that is not complete, a folder with logs, or a log")
      ->required()
      ->type_name("");
  recover_command->add_flag("--dry-run", recover_options.dry_run,
                            "change nothing, and list what is in the logs");
  recover_command->footer(
      "Logs that a program still uses, and those of a file that has been replaced, are left as they are. "
      "Writes that the end of a program cut off are left out, and told.\n"
      "Exit status: 0; 1 where a log that is here could not be brought into its file. What other hosts have "
      "is "
      "told.");

  WaitOptions wait_options;
  CLI::App* wait_command = app.add_subcommand(
      "wait", "wait until files that a program closed in the background are complete (forebay_close)");
  wait_command->add_option("FILE", wait_options.files, "the files")->required()->type_name("");
  wait_command->add_option("--timeout", wait_options.seconds, "give up after so many seconds")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  wait_command->footer(
      "Exit status: 0 where all are complete, 1 where nobody completes one (see forebay recover), or the "
      "time "
      "is over.");

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

  std::string shell;
  CLI::App* completion_command =
      app.add_subcommand("completion", "print what a shell needs to complete forebay's words");
  completion_command->add_option("SHELL", shell, "bash, zsh or fish")->required()->type_name("");
  completion_command->footer(
      "bash: source <(forebay completion bash). An installation has them in its share folder.");

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
    const std::vector<CLI::App*> given = app.get_subcommands();
    const std::string help_of = given.empty() ? "" : given.front()->get_name() + " ";
    return give_up(exit_usage, (unknown.empty() || unknown.front().starts_with("-")
                                    ? std::string(error.what())
                                    : "there is no command '" + unknown.front() + "'") +
                                   "; see forebay " + help_of + "--help");
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
  if (*try_command) {
    try_options.program = try_command->remaining();
    if (try_options.program.empty())
      return give_up(exit_usage, "try needs a program; see forebay try --help");
    if (try_options.program.front().starts_with("-"))
      return give_up(exit_usage,
                     "try has no option " + try_options.program.front() + "; see forebay try --help");
    return try_program(try_options);
  }
  if (*dropin_command) return make_dropin(dropin_options);
  if (*doctor_command) return doctor(doctor_options);
  if (*report_command) {
    if (compared.size() == 2) {
      report_options.file = compared[0];
      report_options.compare = compared[1];
    }
    if (std::ranges::count_if(forms, [](const CLI::Option* form) { return form->count() > 0; }) > 1)
      return give_up(exit_usage, "report takes one of --json, --csv, --html and --compare");
    if (report_options.file.empty())
      return give_up(exit_usage, "report needs a file; see forebay report --help");
    return print_report(report_options);
  }
  if (*plan_command) return print_plan(plan_options);
  if (*wait_command) return wait_for_files(wait_options);
  if (*recover_command) return recover_files(recover_options);
  if (*completion_command) {
    const std::string script = completion_for(app, shell);
    if (script.empty()) return give_up(exit_usage, "completion knows bash, zsh and fish, not " + shell);
    std::fputs(script.c_str(), stdout);
    return 0;
  }
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
