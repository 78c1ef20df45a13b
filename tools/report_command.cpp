// forebay report: which form is wanted.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "message.hpp"
#include "page_parts.hpp"
#include "report/report_json.hpp"
#include "report_file.hpp"
#include "report_formats.hpp"
#include "whole_file.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;

/// Whether the page would take the place of the report, which may come from stdin.
bool is_report(const ReportOptions& options, const std::string& page) {
  struct stat first{}, second{};
  const bool there =
      options.file == "-" ? ::fstat(STDIN_FILENO, &first) == 0 : ::stat(options.file.c_str(), &first) == 0;
  return there && ::stat(page.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

Status write_page(const ReportOptions& options, const json& document) {
  if (is_report(options, options.html))
    return {Code::bad_argument, "--html: " + options.html + " is the report itself; name another file"};
  std::string lacks;
  const std::string page = as_page(document, chart_library(lacks));
  if (options.html == "-") {
    fmt::print("{}", page);
    return {};
  }
  if (Status status = write_whole_file(options.html, page); !status.ok()) return status;
  if (!lacks.empty()) complain(lacks + options.html + " has its tables alone");
  return {};
}

Status show(const ReportOptions& options) {
  json document;
  std::string text;
  if (Status status = read_report(options.file, document, &text); !status.ok()) return status;
  if (!options.compare.empty()) {
    json other;
    if (Status status = read_report(options.compare, other); !status.ok()) return status;
    print_comparison(document, other, options.file, options.compare);
    return {};
  }
  if (!options.html.empty()) return write_page(options, document);
  if (options.csv)
    fmt::print("{}", as_csv(document));
  else if (options.json)
    fmt::print("{}\n", forebay::text_of(nlohmann::ordered_json::parse(text)));
  else
    print_as_text(document);
  return {};
}

}  // namespace

int print_report(const ReportOptions& options) {
  const std::string name = options.file == "-" ? "stdin" : options.file;
  try {
    const Status status = show(options);
    if (!status.ok()) complain(status.message());
    return status.ok() ? 0
           : status.code() == Code::bad_argument && !options.html.empty() && is_report(options, options.html)
               ? exit_usage
               : exit_failed;
  } catch (const std::exception& error) {
    complain((options.compare.empty() ? name + " is not a report" : "these are not reports") +
             std::string(" of Forebay: ") + error.what());
    return exit_failed;
  }
}

}  // namespace forebay::tools
