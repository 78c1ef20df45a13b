// forebay-throttle: runs a command whose writes to one folder have a given rate, as those to a slow storage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "throttle.hpp"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  Throttle throttle;
  double megabytes = 100;
  std::vector<std::string> command;
  CLI::App app("Runs a command whose writes to one folder, of all its processes together, have a given rate.",
               "forebay-throttle");
  app.add_option("--folder", throttle.folder, "where writes are held")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--rate", megabytes, "in MB/s; 100")->check(CLI::Range(0.001, 1e9));
  app.add_option("command", command, "the command and its arguments")->required();
  app.positionals_at_end();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    throttle.folder = std::filesystem::canonical(throttle.folder).string();
    throttle.bytes_per_second = megabytes * 1e6;
    return run_throttled(throttle, command);
  } catch (const std::exception& error) {
    fmt::print(stderr, "forebay-throttle: {}\n", error.what());
    return 125;
  }
}
