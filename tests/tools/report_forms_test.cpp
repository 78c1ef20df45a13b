// forebay report's forms: from stdin, as a table, two side by side, and as a page; and what of anybody's text
// must not get out of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"
#include "report/report.hpp"
#include "template.hpp"

namespace forebay::tools {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

FileReport served(const std::string& path, int ranks = 4, double seconds = 0.25) {
  FileFacts facts;
  facts.path = path;
  facts.driver = "pnetcdf";
  facts.storage = "posix";
  facts.file_system = "ext";
  facts.stripe_bytes = 1 << 20;
  facts.window_bytes = 4 << 20;
  std::vector<RankShare> shares(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    Counters& c = shares[rank].counters;
    c.requests = 3;
    c.pieces = 250000;
    c.bytes = 3000000;
    c.collective_flushes = 1;
    c.seconds[static_cast<std::size_t>(Stage::write)] = rank == 0 ? seconds : 0;
    c.seconds[static_cast<std::size_t>(Stage::scatter)] = 0.01;
    if (rank > 0) continue;
    c.aggregator = 1;
    c.node_runs = 3;
    c.node_bytes = 3000000 * ranks;
    c.count_write(0, 1 << 20, 1 << 20);
    c.count_write(7, 5, 1 << 20);
  }
  return summarize(facts, shares);
}

class Report : public InFolder {
 protected:
  void add(const FileReport& report, const std::string& name = "s.json") {
    ASSERT_TRUE(append_report(*this / name, report).ok());
  }
  std::string page(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"report", *this / "s.json", "--html", *this / "out.html"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = forebay_command(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return slurp(*this / "out.html");
  }
};

const std::string evil = "/x/<script>alert(1)</script>&\"'</script><!--\x1b\n{{title}}.nc";

/// A reader of RFC 4180 that forgives nothing.
std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = rows.back().back();
    if (inside) {
      if (text[i] != '"')
        cell += text[i];
      else if (i + 1 < text.size() && text[i + 1] == '"')
        cell += text[++i];
      else
        inside = false;
    } else if (text[i] == '"') {
      EXPECT_EQ(cell, "");
      inside = true;
    } else if (text[i] == ',') {
      rows.back().emplace_back();
    } else if (text[i] == '\r') {
      EXPECT_EQ(text[++i], '\n');
      rows.push_back({""});
    } else {
      EXPECT_NE(text[i], '\n');
      cell += text[i];
    }
  }
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "the last row ends, too";
  rows.pop_back();
  return rows;
}

TEST_F(Report, ComesFromStdin) {
  add(served("/data/a.nc"));
  const std::string command = FOREBAY " report - < '" + *this / "s.json" + "'";
  const Outcome outcome = run_program({"sh", "-c", command}, current_environment(), std::chrono::seconds(20));
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("/data/a.nc\n"));
  EXPECT_THAT(run_program({"sh", "-c", "echo nothing | " FOREBAY " report -"}, current_environment(),
                          std::chrono::seconds(20))
                  .errors,
              HasSubstr("stdin is not a report of Forebay: it is not JSON"));
}

TEST_F(Report, TableHasARowAFileAndAllCounters) {
  add(served("/data/a, \"b\".nc"));
  add(left_to_stock("=SUM(A1)\n", "hdf5", "no, \"reason\"", 2, 7, 0));
  const auto rows = rows_of(forebay_command({"report", *this / "s.json", "--csv"}).output);
  ASSERT_EQ(rows.size(), 3U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  const auto cell = [&](std::size_t row, const std::string& column) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), column);
    EXPECT_NE(at, rows[0].end()) << column;
    return at == rows[0].end() ? "" : rows[row][static_cast<std::size_t>(at - rows[0].begin())];
  };
  EXPECT_EQ(cell(1, "path"), "/data/a, \"b\".nc");
  EXPECT_EQ(cell(1, "pieces"), "1000000");
  EXPECT_EQ(cell(1, "file_writes.count"), "2");
  EXPECT_EQ(cell(1, "file_writes.sizes.4"), "1");
  EXPECT_EQ(cell(1, "file_writes.sizes.1048576"), "1");
  EXPECT_EQ(cell(1, "seconds.write.max"), "0.25");
  EXPECT_EQ(cell(1, "aggregators"), "0");
  EXPECT_EQ(cell(2, "path"), "'=SUM(A1)\\n") << "no formula, and one line";
  EXPECT_EQ(cell(2, "active"), "false");
  EXPECT_EQ(cell(2, "stock.reasons"), "no, \"reason\"");
  for (const CounterField& field : counter_fields()) {
    std::string column = field.place + 1;
    std::replace(column.begin(), column.end(), '/', '.');
    cell(1, column);
  }
}

TEST_F(Report, TableOfAForgedReportHasNoMoreCells) {
  add(served("/data/a.nc"));
  auto document = nlohmann::json::parse(slurp(*this / "s.json"));
  document["files"][0]["link"] = {{"x", 1}, {"y", ",=1+1,\r\n\u00a0"}};
  document["files"][0]["host"] = "\uff1d1+1";
  std::ofstream(*this / "s.json") << document.dump();
  const auto rows = rows_of(forebay_command({"report", *this / "s.json", "--csv"}).output);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].size(), rows[0].size());
  for (const std::string& cell : rows[1]) {
    EXPECT_THAT(cell, Not(StartsWith("=")));
    EXPECT_THAT(cell, Not(StartsWith("\uff1d"))) << "which some table programs take for =";
  }
}

TEST_F(Report, NestedTooDeeplyIsNone) {
  add(served("/data/a.nc"));
  std::string text = slurp(*this / "s.json");
  text.insert(text.rfind('}'),
              ",\"x\":\"[[{\\\"[\",\"y\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']'));
  std::ofstream(*this / "s.json") << text;
  const Outcome outcome = forebay_command({"report", *this / "s.json", "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("is not a report of Forebay"));
}

TEST_F(Report, FromStdinIsNotReplacedByItsPage) {
  add(served("/data/a.nc"));
  const std::string before = slurp(*this / "s.json");
  const std::string command = "cd '" + folder_ + "' && " FOREBAY " report - --html s.json < s.json";
  EXPECT_EQ(run_program({"sh", "-c", command}, current_environment(), std::chrono::seconds(20)).status, 2);
  EXPECT_EQ(slurp(*this / "s.json"), before);
}

TEST_F(Report, OfAnEarlierVersionIsRead) {
  add(served("/data/a.nc"));
  nlohmann::json document = nlohmann::json::parse(slurp(*this / "s.json"));
  document["files"][0].erase("seconds_by_rank");
  std::ofstream(*this / "s.json", std::ios::trunc) << document.dump();
  EXPECT_EQ(forebay_command({"report", *this / "s.json"}).status, 0);
  EXPECT_EQ(rows_of(forebay_command({"report", *this / "s.json", "--csv"}).output).size(), 2U);
  EXPECT_THAT(page(), HasSubstr("/data/a.nc"));
  add(served("/data/a.nc"));
  EXPECT_TRUE(nlohmann::json::parse(slurp(*this / "s.json"))["files"][0].contains("seconds_by_rank"));
}

TEST_F(Report, TellsOfTheLogWhereThereIsOne) {
  add(served("/data/a.nc"));
  EXPECT_THAT(forebay_command({"report", *this / "s.json"}).output, Not(HasSubstr("\n  log ")));
  EXPECT_THAT(page(), Not(HasSubstr(">log<")));
  FileReport logged = served("/data/b.nc");
  Counters& c = logged.total;
  c.log_appends = 12;
  c.log_bytes = 3 << 20;
  c.log_drained_bytes = 1 << 20;
  c.log_full_waits = 2;
  c.log_full_wait_microseconds = 1'500'000;
  c.log_past_bytes = 4096;
  c.log_conflicts = 1;
  c.log_left_bytes = 2 << 20;
  c.log_after_close = 2'000'000;
  add(logged);
  const std::string text = forebay_command({"report", *this / "s.json"}).output;
  for (const char* part :
       {"  log             12 appends of 3 MiB\n",
        "1 MiB brought into the file by ranks, the rest by the keeper process",
        "up to 2 MiB left to it at a close", "complete 2.000 s after the close",
        "full 2 times, 1.500 s of waiting", "4 KiB past it",
        "1 flush for older bytes in the log of another node", "to the log or the file: 2 writes"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(page(), HasSubstr("12 appends of 3 MiB; 1 MiB brought"));
  // A report of a version that knew no log.
  nlohmann::json document = nlohmann::json::parse(slurp(*this / "s.json"));
  for (nlohmann::json& file : document["files"]) file.erase("log");
  std::ofstream(*this / "s.json", std::ios::trunc) << document.dump();
  EXPECT_EQ(forebay_command({"report", *this / "s.json"}).status, 0);
  add(served("/data/b.nc"));
  EXPECT_EQ(nlohmann::json::parse(slurp(*this / "s.json"))["files"][1]["log"]["appends"], 0);
}

TEST_F(Report, TwoSideBySide) {
  add(served("/one/a.nc", 4, 0.8), "a.json");
  add(served("/one/gone.nc"), "a.json");
  add(served("/both/same.nc"), "a.json");
  add(served("/two/a.nc", 4, 0.4), "b.json");
  add(served("/both/same.nc"), "b.json");
  add(served("/two/new.nc"), "b.json");
  const Outcome outcome = forebay_command({"report", "--compare", *this / "a.json", *this / "b.json"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("/one/a.nc\n  with /two/a.nc\n"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("\n    write +0.200 s +0.100 s +0.50\n"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("\n  bytes put +11.4 MiB +11.4 MiB +1.00\n"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("only in A\n  /one/gone.nc:"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("only in B\n  /two/new.nc:"));
  EXPECT_EQ(forebay_command({"report", "--compare", *this / "a.json"}).status, 2);
  EXPECT_EQ(forebay_command({"report", "x", "--compare", "a", "b"}).status, 2);
  EXPECT_EQ(forebay_command({"report", "--compare", *this / "a.json", *this / "none"}).status, 1);
}

TEST_F(Report, PageHasAllAndNeedsNothing) {
  add(served("/data/history.nc"));
  add(left_to_stock("/data/other.h5", "hdf5", "the file is opened by one rank", 2, 1 << 20, 0));
  const std::string html = page();
  for (const char* part :
       {"/data/history.nc", "/data/other.h5", "1 000 000", "What limited it", "Pieces, runs, writes",
        "The stock driver was used because the file is opened by one rank.",
        "86 % of Forebay&#39;s time was in the file system",
        "2 writes of 512.0 KiB on average, 50 % of them aligned",
        "file writes: the slowest rank took 0.250 s"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_EQ(html.find("Chart.js v") != html.npos, HAS_CHARTS);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2)
      << "nothing is left beside it";
}

TEST_F(Report, PageTakesNothingFromAnybodysText) {
  FileReport report = served(evil);
  report.notes.emplace_back("</script><img src=x onerror=alert(1)>");
  add(report);
  add(left_to_stock("/x/<b>.nc", "hdf5", "<i>{{{script}}}</i>", 1, 0, 0));
  const std::string html = page();
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<i>")));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  EXPECT_THAT(html, HasSubstr("because &lt;i&gt;{{{script}}}&lt;/i&gt;."));
  // What the page's script reads is what was meant.
  const std::size_t begin = html.find("id=\"data\">") + 10;
  const auto data = nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  EXPECT_THAT(data["files"][1]["name"].get<std::string>(), StartsWith("/x/<script>alert(1)</script>&\"'"));
  // As many scripts end as begin: data, page, and Chart.js.
  std::size_t ends = 0;
  for (std::size_t at = html.find("</script"); at != html.npos; at = html.find("</script", at + 1)) ++ends;
  EXPECT_EQ(ends, HAS_CHARTS ? 3U : 2U);
}

TEST_F(Report, PageIsWrittenWholeAndNotOverItsReport) {
  add(served("/data/history.nc"));
  const std::string before = slurp(*this / "s.json");
  std::filesystem::create_hard_link(*this / "s.json", *this / "same.json");
  std::filesystem::create_symlink("s.json", *this / "link.json");
  for (const char* name : {"s.json", "same.json", "link.json"}) {
    const Outcome outcome = forebay_command({"report", *this / "s.json", "--html", *this / name});
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(outcome.errors, HasSubstr("is the report itself"));
  }
  EXPECT_EQ(slurp(*this / "s.json"), before);
  EXPECT_EQ(forebay_command({"report", *this / "s.json", "--html", folder_}).status, 1);
  EXPECT_EQ(forebay_command({"report", *this / "s.json", "--html", *this / "no/such/folder.html"}).status, 1);
  EXPECT_EQ(forebay_command({"report", *this / "s.json", "--html", "x.html", "--csv"}).status, 2);
  std::ofstream(*this / "out.html") << "old";
  chmod((*this / "out.html").c_str(), 0640);
  page();
  struct stat now{};
  ASSERT_EQ(stat((*this / "out.html").c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 0777, 0640U);
}

TEST_F(Report, PageOfManyFilesIsMadeInTime) {
  for (int i = 0; i < 1000; ++i) add(served("/data/plot" + std::to_string(i) + ".nc"));
  const auto begin = std::chrono::steady_clock::now();
  const std::string html = page();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_THAT(html, HasSubstr("The 10 largest files"));
  EXPECT_THAT(html, HasSubstr("/data/plot999.nc"));
  EXPECT_LT(html.size(), std::size_t{4} << 20);
}

TEST_F(Report, PageWithoutFilesSaysSo) {
  ASSERT_TRUE(start_report(*this / "s.json", "./model").ok());
  EXPECT_THAT(page(), HasSubstr("No file was written through Forebay"));
}

TEST(Template, SectionsValuesAndWhatIsAround) {
  const nlohmann::json values{{"title", "<a> & \"b\""},
                              {"list", {{{"x", 1}}, {{"x", 2}}}},
                              {"plain", {"a", "b"}},
                              {"none", nlohmann::json::array()},
                              {"empty", ""},
                              {"zero", 0},
                              {"yes", true}};
  EXPECT_EQ(fill_template("{{title}}|{{{title}}}", values), "&lt;a&gt; &amp; &quot;b&quot;|<a> & \"b\"");
  EXPECT_EQ(fill_template("{{#list}}{{x}}{{#yes}}{{x}}{{/yes}},{{/list}}", values), "11,22,");
  EXPECT_EQ(fill_template("{{#plain}}[{{.}}]{{/plain}}{{^none}}none{{/none}}{{#none}}some{{/none}}", values),
            "[a][b]none");
  EXPECT_EQ(fill_template("{{^empty}}e{{/empty}}{{#zero}}z{{/zero}}{{missing}}", values), "ez");
  EXPECT_THROW(fill_template("{{#list}}", values), std::runtime_error);
  EXPECT_THROW(fill_template("{{list", values), std::runtime_error);
  EXPECT_EQ(script_json("</script><!--&"), "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
}

}  // namespace
}  // namespace forebay::tools
