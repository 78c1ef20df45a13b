// The hint table against the settings it describes, the grammar, the errors people see, and precedence.
#include "base/hints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace forebay {
namespace {

using testing::HasSubstr;
using testing::Not;

Settings parsed(std::string_view text, Origin origin = Origin::command) {
  Settings settings;
  const Status status = parse_hints(settings, text, origin);
  EXPECT_TRUE(status.ok()) << text << ": " << status.message();
  return settings;
}

std::string failure(std::string_view text, Origin origin = Origin::command) {
  Settings settings;
  const Status status = parse_hints(settings, text, origin);
  EXPECT_EQ(status.code(), Code::bad_hint) << text;
  return status.message();
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(HintTable, NamesAreUniqueAndEveryHintHasAMeaning) {
  std::set<std::string> names;
  for (const HintSpec& hint : hint_table()) {
    EXPECT_TRUE(names.insert(hint.name).second) << hint.name;
    EXPECT_NE(std::string(hint.meaning), "") << hint.name;
    EXPECT_NE(std::string(hint.values), "") << hint.name;
  }
}

TEST(HintTable, DefaultsAreThoseOfTheSettings) {
  for (const HintSpec& hint : hint_table()) {
    Settings settings;
    const Status status = set_hint(settings, hint.name, hint.default_value, Origin::command);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(format_hints(settings), "") << hint.name;
  }
}

/// A value other than the default, for each grammar.
std::string other_value(const HintSpec& hint) {
  const std::string values = hint.values;
  if (values.find(" | ") != values.npos) {
    const std::string first = values.substr(0, values.find(' ')), last = values.substr(values.rfind(' ') + 1);
    return last == hint.default_value ? first : last;
  }
  if (values.starts_with("bytes")) return "2112k";
  return values == "a path" ? "/tmp/a b" : "3";
}

TEST(HintTable, EveryHintOfOursChangesItsSetting) {
  // A hint that is parsed into nothing would print nothing.
  for (const HintSpec& hint : hint_table()) {
    const std::string name = hint.name;
    const std::string value = other_value(hint);
    Settings settings;
    const Status status = set_hint(settings, name, value, Origin::command);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(format_hints(settings), HasSubstr("=" + value)) << name;
  }
}

TEST(Settings, RanksAgreeOnAllButTheReportAndWhatOnlyTestsSet) {
  Settings first, other;
  for (const HintSpec& hint : hint_table())
    ASSERT_TRUE(set_hint(first, hint.name, other_value(hint), Origin::command).ok()) << hint.name;
  std::vector<std::int64_t> numbers;
  for_each_agreed(first, [&](std::int64_t number) { numbers.push_back(number); });
  EXPECT_EQ(numbers.size(), agreed_settings);
  std::size_t at = 0;
  for_each_agreed(other, [&](std::int64_t& number) { number = numbers.at(at++); });
  other.stats = first.stats;
  other.trace = first.trace;
  other.log = first.log;
  other.stage = first.stage;
  other.fail_after_bytes = first.fail_after_bytes;
  other.fail_rank = first.fail_rank;
  other.delay_usec = first.delay_usec;
  EXPECT_EQ(format_hints(other), format_hints(first));
}

TEST(Hints, SizesTakeBinarySuffixes) {
  EXPECT_EQ(parsed("forebay_window_bytes=4096").window_bytes, 4096);
  EXPECT_EQ(parsed("forebay_window_bytes=512k").window_bytes, 512 << 10);
  EXPECT_EQ(parsed("forebay_window_bytes=2M").window_bytes, 2 << 20);
  EXPECT_EQ(parsed("forebay_window_bytes=2MiB").window_bytes, 2 << 20);
  EXPECT_EQ(parsed("forebay_window_bytes=3gb").window_bytes, std::int64_t{3} << 30);
  EXPECT_EQ(parsed("forebay_window_bytes=1t").window_bytes, std::int64_t{1} << 40);
  for (const char* bad :
       {"", "k", "-1", "1.5m", "1q", "1mm", "0x10", "99999999999999999999", "9999999t", "1 m x"})
    EXPECT_THAT(failure(std::string("forebay_window_bytes=") + bad), HasSubstr("forebay_window_bytes"))
        << bad;
}

TEST(Hints, BooleansTakeTheCommonWords) {
  for (const char* word : {"off", "false", "0", "disable", "OFF"})
    EXPECT_FALSE(parsed(std::string("forebay_enable=") + word).enabled) << word;
  for (const char* word : {"on", "true", "1", "enable", "True"})
    EXPECT_TRUE(parsed(std::string("forebay_enable=") + word).enabled) << word;
  EXPECT_THAT(failure("forebay_enable=maybe"), HasSubstr("on | off"));
}

TEST(Hints, BlanksAndEmptyEntriesDoNotMatter) {
  const Settings settings = parsed(" ; forebay_mode = commit ;; forebay_link=put;");
  EXPECT_EQ(settings.mode, Mode::commit);
  EXPECT_EQ(settings.link, Link::put);
}

TEST(Hints, MalformedEntriesSayWhatIsWrong) {
  EXPECT_THAT(failure("forebay_mode"), HasSubstr("key=value"));
  EXPECT_THAT(failure("=3"), HasSubstr("without a name"));
  EXPECT_THAT(failure("=\"3\""), HasSubstr("without a name"));
  EXPECT_THAT(failure("forebay_stats=\"abc"), HasSubstr("quotes"));
  EXPECT_THAT(failure("forebay_stats=\"abc\"d;forebay_mode=strict"), HasSubstr("quotes"));
  EXPECT_THAT(failure("forebay_mode=fast"), testing::AllOf(HasSubstr("fast"), HasSubstr("strict | commit")));
  EXPECT_THAT(failure("forebay_memory_bytes=1"), HasSubstr("at least 64k"));
  EXPECT_THAT(failure("forebay_mode=strict,forebay_stripe_bytes=1m"), HasSubstr("joined by ';'"));
  EXPECT_THAT(failure("forebay_mode=strict,commit"), Not(HasSubstr("joined by")));
}

TEST(Hints, AnUnknownKeyNamesTheNearOnes) {
  EXPECT_THAT(failure("forebay_stripe_byte=1m"), HasSubstr("did you mean forebay_stripe_bytes"));
  EXPECT_THAT(failure("forebay_stripe_byts=1m"), HasSubstr("forebay_stripe_bytes"));
  EXPECT_THAT(failure("forebay_stripe_bytes=1"), HasSubstr("at least 512"));
  EXPECT_THAT(failure("striping_unit=511"), HasSubstr("at least 512"));
  EXPECT_EQ(parsed("forebay_stripe_bytes=512;forebay_window_bytes=0").stripe_bytes, 512);
  EXPECT_THAT(failure("mode=commit"), HasSubstr("forebay_mode"));
  EXPECT_THAT(failure("forebay_moed=commit"), HasSubstr("did you mean forebay_mode?"));
  EXPECT_THAT(failure("forebay_agregators_per_node=2"), HasSubstr("forebay_aggregators_per_node"));
  EXPECT_THAT(failure("forebay_qqqqqqqq=2"),
              testing::AllOf(HasSubstr("forebay hints"), Not(HasSubstr("mean"))));
}

TEST(Hints, ABadCommandChangesNothing) {
  Settings settings;
  EXPECT_FALSE(parse_hints(settings, "forebay_mode=commit;forebay_mod=x", Origin::command).ok());
  EXPECT_EQ(settings.mode, Mode::automatic);
}

TEST(Hints, InfoKeepsItsGoodKeysAndIgnoresThoseOfOthers) {
  Settings settings;
  EXPECT_FALSE(
      parse_hints(settings, "forebay_mod=x;forebay_mode=commit;romio_cb_write=enable", Origin::info).ok());
  EXPECT_EQ(settings.mode, Mode::commit);
  EXPECT_TRUE(set_hint(settings, "romio_cb_write", "enable", Origin::info).ok());
  EXPECT_FALSE(set_hint(settings, "romio_cb_write", "enable", Origin::call).ok());
  EXPECT_FALSE(set_hint(settings, "forebay_mod", "x", Origin::info).ok());
}

TEST(Hints, NamesOfOthersAreUnderstoodAndYieldToOurs) {
  const Settings settings =
      parsed("striping_unit=4m;striping_factor=8;cb_nodes=6;cb_buffer_size=16m", Origin::info);
  EXPECT_EQ(settings.striping_unit, 4 << 20);
  EXPECT_EQ(settings.striping_factor, 8);
  EXPECT_EQ(settings.stripe_bytes, 0) << "it is wished for a new file, not known of this one";
  EXPECT_EQ(settings.aggregators, 6);
  EXPECT_EQ(settings.aggregator_bytes, 16 << 20);
  EXPECT_EQ(parsed("nc_num_aggrs_per_node=3", Origin::info).aggregators_per_node, 3);
  const char* both = "forebay_aggregators_per_node=2;nc_num_aggrs_per_node=3";
  EXPECT_EQ(parsed(both, Origin::info).aggregators_per_node, 2);
  EXPECT_EQ(
      parsed("nc_num_aggrs_per_node=3;forebay_aggregators_per_node=2", Origin::info).aggregators_per_node, 2);
  EXPECT_EQ(parsed(both, Origin::command).aggregators_per_node, 3);
}

TEST(Hints, StripesOfNewFiles) {
  EXPECT_EQ(parsed("").new_stripes, NewStripes::none);
  EXPECT_EQ(parsed("forebay_stripe=auto").new_stripes, NewStripes::automatic);
  const NewStripes stripes = parsed("forebay_stripe = 16 x 4m").new_stripes;
  EXPECT_EQ(count_of(stripes), 16);
  EXPECT_EQ(unit_of(stripes), 4 << 20);
  EXPECT_EQ(format_hints(parsed("forebay_stripe=2000X64k")), "forebay_stripe=2000x64k");
  const NewStripes largest = parsed("forebay_stripe=1x4194240k").new_stripes;
  EXPECT_EQ(unit_of(largest), (std::int64_t{1} << 32) - (64 << 10));
  for (const char* bad : {"4", "x4m", "4x", "0x4m", "2001x1m", "4x63k", "4x100k", "4x4g", "-1x1m", "4x1m2"})
    EXPECT_THAT(failure(std::string("forebay_stripe=") + bad), HasSubstr("COUNTxSIZE")) << bad;
}

TEST(Hints, OwnerNodes) {
  using Ranges = std::vector<NodeChoice::Range>;
  EXPECT_EQ(parsed("").owner_nodes, NodeChoice());
  EXPECT_EQ(parsed("forebay_owner_nodes=4;forebay_owner_nodes=all").owner_nodes, NodeChoice());
  EXPECT_EQ(parsed("forebay_owner_nodes=4").owner_nodes.count, 4);
  EXPECT_EQ(parsed("forebay_owner_nodes=4").owner_nodes.ranges, Ranges());
  const NodeChoice some = parsed("forebay_owner_nodes= 8, 0 - 3 ").owner_nodes;
  EXPECT_EQ(some.count, 0);
  EXPECT_EQ(some.ranges, (Ranges{{0, 3}, {8, 8}}));
  const auto printed = [](const std::string& value) {
    return format_hints(parsed("forebay_owner_nodes=" + value));
  };
  EXPECT_EQ(printed("4-4"), "forebay_owner_nodes=4-4") << "not the count 4";
  EXPECT_EQ(printed("4,4"), "forebay_owner_nodes=4-4");
  EXPECT_EQ(printed("9,2-5,3-7,8,20"), "forebay_owner_nodes=2-9,20") << "neighbours are one range";
  EXPECT_EQ(printed("5-9,1-2,1-3"), "forebay_owner_nodes=1-3,5-9");
  for (const char* bad : {"", "0", "-1", "none", "1-", "-", ",", "1,", ",1", "3-1", "1-2-3", "1 2", "0x1",
                          "16777217", "99999999999", "a-b", "all,1"})
    EXPECT_THAT(failure(std::string("forebay_owner_nodes=") + bad), HasSubstr(bad)) << bad;
}

TEST(Settings, RanksAgreeOnHowManyRangesOfNodesAreToldBeside) {
  const auto agreed = [](const std::string& first, const std::string& other) {
    Settings theirs = parsed("forebay_owner_nodes=" + first), mine = parsed("forebay_owner_nodes=" + other);
    std::vector<std::int64_t> numbers;
    for_each_agreed(theirs, [&](std::int64_t number) { numbers.push_back(number); });
    std::size_t at = 0;
    for_each_agreed(mine, [&](std::int64_t& number) { number = numbers.at(at++); });
    for_each_agreed(theirs, [&](std::int64_t&) {});
    EXPECT_EQ(theirs.owner_nodes, parsed("forebay_owner_nodes=" + first).owner_nodes)
        << "rank 0 keeps its own";
    return mine.owner_nodes;
  };
  EXPECT_EQ(agreed("0-1,5", "all").ranges.size(), 2u);
  EXPECT_EQ(agreed("0-1,5", "7,9,11").ranges.size(), 2u);
  EXPECT_EQ(agreed("all", "7,9"), NodeChoice());
  EXPECT_EQ(agreed("3", "7,9"), NodeChoice(3));
}

TEST(Hints, PrintedHintsParseBack) {
  for (const char* text :
       {"", "forebay_mode=commit;forebay_stripe_bytes=3000", "forebay_fail_rank=2;cb_nodes=4",
        "forebay_stats=\"/a;b\\\"c\\\\ \";forebay_enable=off", "striping_unit=1m", "forebay_stripe=4x1m",
        "forebay_stripe=auto"}) {
    const std::string printed = format_hints(parsed(text));
    EXPECT_EQ(format_hints(parsed(printed)), printed) << text;
  }
  EXPECT_EQ(parsed(format_hints(parsed("forebay_stats=\" a;b\\\"c\\\\ \""))).stats, " a;b\"c\\ ");
  EXPECT_EQ(format_hints(parsed("nc_num_aggrs_per_node=3")), "forebay_aggregators_per_node=3");
}

TEST(Hints, TheEnvironmentWinsAndNamesItself) {
  Settings settings = parsed("forebay_mode=commit;forebay_link=put");
  const Environment hints("FOREBAY_HINTS", "forebay_mode=strict;forebay_stats=/a");
  {
    const Environment stats("FOREBAY_STATS", "/b");
    const Environment enable("FOREBAY_ENABLE", "off");
    EXPECT_TRUE(apply_environment(settings).ok());
  }
  EXPECT_EQ(settings.mode, Mode::strict);
  EXPECT_EQ(settings.link, Link::put);
  EXPECT_EQ(settings.stats, "/b");
  EXPECT_FALSE(settings.enabled);
  const Environment bad("FOREBAY_HINTS", "forebay_mod=strict");
  EXPECT_THAT(apply_environment(settings).message(), testing::StartsWith("FOREBAY_HINTS: "));
}

}  // namespace
}  // namespace forebay
