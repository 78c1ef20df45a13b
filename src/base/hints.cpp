// The table of all hints, made of settings.def, and the parsers and printers that work from it alone, so that
// names, ranges and documentation cannot drift apart.
#include "base/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <variant>
#include <vector>

#include "base/edit_distance.hpp"

namespace forebay {
namespace {

using std::int64_t;

struct BytesField {
  int64_t Settings::* member;
  int64_t min;
  int64_t least = 0;  ///< where it is not 0
};
struct CountField {
  int Settings::* member;
  int min;
};
struct TimeField {
  int64_t Settings::* member;
};
struct StripesField {
  NewStripes Settings::* member;
};
struct NodesField {
  NodeChoice Settings::* member;
};

using Field =
    std::variant<bool Settings::*, Mode Settings::*, StorageKind Settings::*, Link Settings::*,
                 Rounds Settings::*, Metadata Settings::*, FillHoles Settings::*, Check Settings::*,
                 KeeperUse Settings::*, Drain Settings::*, LogSync Settings::*, LogClose Settings::*,
                 LogSafety Settings::*, StageKind Settings::*, StageAhead Settings::*, BytesField, CountField,
                 TimeField, StripesField, NodesField, std::string Settings::*>;

struct Entry {
  HintSpec spec;
  Field field;
  bool alias;  ///< another entry's field, or none: not printed
};

constexpr int64_t max_bytes = int64_t{1} << 50;
constexpr int max_count = 1 << 24;
constexpr int64_t max_usec = 60'000'000;

template <class E>
struct Word {
  std::string_view text;
  E value;
};

/// The words of a type that has words; the first one for a value is printed.
template <class E>
constexpr std::nullptr_t words = nullptr;
template <>
constexpr Word<bool> words<bool>[] = {{"on", true},  {"off", false}, {"true", true},   {"false", false},
                                      {"1", true},   {"0", false},   {"enable", true}, {"disable", false},
                                      {"yes", true}, {"no", false}};
template <>
constexpr Word<Mode> words<Mode>[] = {{"strict", Mode::strict},
                                      {"commit", Mode::commit},
                                      {"automatic", Mode::automatic},
                                      {"auto", Mode::automatic}};
template <>
constexpr Word<StorageKind> words<StorageKind>[] = {
    {"automatic", StorageKind::automatic}, {"auto", StorageKind::automatic},
    {"mpiio", StorageKind::mpiio},         {"posix", StorageKind::posix},
    {"null", StorageKind::null},           {"failing", StorageKind::failing}};
template <>
constexpr Word<Check> words<Check>[] = {{"none", Check::none}, {"order", Check::order}};
template <>
constexpr Word<KeeperUse> words<KeeperUse>[] = {{"automatic", KeeperUse::automatic},
                                                {"auto", KeeperUse::automatic},
                                                {"start", KeeperUse::start},
                                                {"none", KeeperUse::none}};
template <>
constexpr Word<Drain> words<Drain>[] = {{"flush", Drain::flush}, {"background", Drain::background}};
template <>
constexpr Word<LogSync> words<LogSync>[] = {{"file", LogSync::file}, {"log", LogSync::log}};
template <>
constexpr Word<LogClose> words<LogClose>[] = {{"file", LogClose::file}, {"background", LogClose::background}};
template <>
constexpr Word<LogSafety> words<LogSafety>[] = {{"process", LogSafety::process}, {"node", LogSafety::node}};
template <>
constexpr Word<StageKind> words<StageKind>[] = {{"automatic", StageKind::automatic},
                                                {"auto", StageKind::automatic},
                                                {"whole", StageKind::whole},
                                                {"extent", StageKind::extent},
                                                {"compact", StageKind::compact}};
template <>
constexpr Word<StageAhead> words<StageAhead>[] = {
    {"automatic", StageAhead::automatic}, {"auto", StageAhead::automatic}, {"none", StageAhead::none}};
template <>
constexpr Word<Metadata> words<Metadata>[] = {{"collective", Metadata::collective},
                                              {"independent", Metadata::independent}};
template <>
constexpr Word<FillHoles> words<FillHoles>[] = {
    {"automatic", FillHoles::automatic}, {"auto", FillHoles::automatic},  {"enable", FillHoles::enable},
    {"on", FillHoles::enable},           {"disable", FillHoles::disable}, {"off", FillHoles::disable}};
template <>
constexpr Word<Link> words<Link>[] = {{"automatic", Link::automatic},
                                      {"auto", Link::automatic},
                                      {"put", Link::put},
                                      {"message", Link::message}};

template <>
constexpr Word<Rounds> words<Rounds>[] = {{"automatic", Rounds::automatic},
                                          {"auto", Rounds::automatic},
                                          {"window", Rounds::window},
                                          {"wide", Rounds::wide}};

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

template <class E>
std::optional<E> find_word(std::string_view text) {
  for (const auto& word : words<E>)
    if (same_word(word.text, text)) return word.value;
  return std::nullopt;
}

template <class E>
std::string_view first_word(E value) {
  for (const auto& word : words<E>)
    if (word.value == value) return word.text;
  return {};
}

std::optional<int64_t> parse_integer(std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < min || value > max)
    return std::nullopt;
  return value;
}

/// "512k", "1M", "2MiB", "4096": a whole number and a binary suffix.
std::optional<int64_t> parse_bytes(std::string_view text, int64_t min) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto suffix = trimmed(text.substr(digits));
  int shift = 0;
  if (!suffix.empty() && !same_word(suffix, "b")) {
    const auto power = std::string_view("kmgt").find(lower(suffix[0]));
    const auto rest = suffix.substr(1);
    if (power == std::string_view::npos || !(rest.empty() || same_word(rest, "b") || same_word(rest, "ib")))
      return std::nullopt;
    shift = 10 * (static_cast<int>(power) + 1);
  }
  const auto number = parse_integer(text.substr(0, digits), 0, max_bytes >> shift);
  if (!number || (*number << shift) < min) return std::nullopt;
  return *number << shift;
}

std::string format_bytes(int64_t value) {
  constexpr std::string_view suffixes = "kmgt";
  std::size_t power = 0;
  while (value != 0 && value % 1024 == 0 && power < suffixes.size()) {
    value /= 1024;
    ++power;
  }
  std::string text = std::to_string(value);
  if (power > 0) text += suffixes[power - 1];
  return text;
}

/// "16x4m": count and bytes.
std::optional<NewStripes> parse_stripes(std::string_view text) {
  constexpr int64_t most_count = 2000, most_unit = (int64_t{1} << 32) - kStripeQuantum;
  if (same_word(text, "none")) return NewStripes::none;
  if (same_word(text, "auto") || same_word(text, "automatic")) return NewStripes::automatic;
  const auto cross = text.find_first_of("xX");
  if (cross == text.npos) return std::nullopt;
  const auto count = parse_integer(trimmed(text.substr(0, cross)), 1, most_count);
  const auto unit = parse_bytes(trimmed(text.substr(cross + 1)), kStripeQuantum);
  if (!count || !unit || *unit % kStripeQuantum != 0 || *unit > most_unit) return std::nullopt;
  return stripes_asked(*count, *unit);
}

std::string format_stripes(NewStripes stripes) {
  if (stripes == NewStripes::none) return "none";
  if (stripes == NewStripes::automatic) return "auto";
  return std::to_string(count_of(stripes)) + 'x' + format_bytes(unit_of(stripes));
}

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

template <class T>
bool store(T& member, const std::optional<T>& value) {
  if (value) member = *value;
  return value.has_value();
}

/// False where the value does not follow the field's grammar or range.
bool assign(Settings& s, const Field& field, std::string_view value) {
  return std::visit(
      Overload{
          [&]<class E>(E Settings::* m) { return store(s.*m, find_word<E>(value)); },
          [&](const BytesField& f) {
            auto bytes = parse_bytes(value, f.min);
            if (bytes && *bytes != 0 && *bytes < f.least) bytes.reset();
            return store(s.*f.member, bytes);
          },
          [&](const CountField& f) {
            const auto number = parse_integer(value, f.min, max_count);
            if (number) s.*f.member = static_cast<int>(*number);
            return number.has_value();
          },
          [&](const TimeField& f) { return store(s.*f.member, parse_integer(value, 0, max_usec)); },
          [&](const StripesField& f) { return store(s.*f.member, parse_stripes(value)); },
          [&](const NodesField& f) { return store(s.*f.member, parse_nodes(value)); },
          [&](std::string Settings::* m) {
            s.*m = value;
            return true;
          },
      },
      field);
}

bool same_value(const Settings& a, const Settings& b, const Field& field) {
  return std::visit(Overload{
                        [&]<class T>(T Settings::* m) { return a.*m == b.*m; },
                        [&](const auto& f) { return a.*f.member == b.*f.member; },
                    },
                    field);
}

/// A value that the grammar would cut or trim goes in double quotes, with \ before " and \.
std::string quoted_if_needed(const std::string& text) {
  if (text.find_first_of(";\"\\") == text.npos && trimmed(text).size() == text.size()) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string value_of(const Settings& s, const Field& field) {
  return std::visit(Overload{
                        [&]<class E>(E Settings::* m) { return std::string(first_word(s.*m)); },
                        [&](const BytesField& f) { return format_bytes(s.*f.member); },
                        [&](const StripesField& f) { return format_stripes(s.*f.member); },
                        [&](const NodesField& f) { return text_of(s.*f.member); },
                        [&](const auto& f) { return std::to_string(s.*f.member); },
                        [&](std::string Settings::* m) { return quoted_if_needed(s.*m); },
                    },
                    field);
}

constexpr std::string_view prefix = "forebay_";

constexpr const char* bytes_values = "bytes, with k, m, g or t: 65536, 512k, 1m";
constexpr const char* unit_values = "bytes, 0 or at least 512, with k, m, g or t: 65536, 512k, 1m";
constexpr int64_t least_unit = 512;  // smaller ones make a write, or a barrier of all ranks, of a few bytes

// How settings.def says that a hint is read.
template <class T>
Field word(T Settings::* member) {
  return member;
}
Field text(std::string Settings::* member) {
  return member;
}
Field bytes(int64_t Settings::* member) {
  return BytesField{member, 0};
}
Field bytes_from_64k(int64_t Settings::* member) {
  return BytesField{member, 64 << 10};
}
Field bytes_from_1m(int64_t Settings::* member) {
  return BytesField{member, 0, 1 << 20};
}
Field unit(int64_t Settings::* member) {
  return BytesField{member, 0, least_unit};
}
Field count(int Settings::* member) {
  return CountField{member, 0};
}
Field rank(int Settings::* member) {
  return CountField{member, -1};
}
Field microseconds(int64_t Settings::* member) {
  return TimeField{member};
}
Field stripes(NewStripes Settings::* member) {
  return StripesField{member};
}
Field nodes(NodeChoice Settings::* member) {
  return NodesField{member};
}

Entry entry(const char* name, const char* values, const char* meaning, const Field& field, bool alias) {
  return {{name, values, value_of(Settings{}, field), meaning}, field, alias};
}

const auto& entries() {
  static const std::array table{
#define SETTING(type, member, value, ranks, reads, hint, values, meaning) \
  entry(hint, values, meaning, reads(&Settings::member), false),
#define ALIAS(member, reads, hint, values, meaning) \
  entry(hint, values, meaning, reads(&Settings::member), true),
#include "base/settings.def"
  };
  return table;
}

std::string_view without_prefix(std::string_view name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// The names that a mistyped key may mean, nearest first: few edits, or one name being part of the other.
std::vector<std::string_view> near_names(std::string_view key) {
  const std::string_view stem = without_prefix(key);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const Entry& entry : entries()) {
    const std::string_view name = entry.spec.name;
    const std::string_view name_stem = without_prefix(name);
    const std::size_t distance = edit_distance(stem, name_stem);
    const std::size_t longest = std::max(stem.size(), name_stem.size());
    const bool part =
        stem.size() >= 4 && (name_stem.find(stem) != stem.npos || stem.find(name_stem) != stem.npos);
    if (distance <= std::max<std::size_t>(1, longest / 3))
      near.emplace_back(distance, name);
    else if (part)
      near.emplace_back(longest, name);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].second);
  return names;
}

Status unknown_key(std::string_view key) {
  std::string message = "unknown hint \"" + std::string(key) + "\"";
  const auto names = near_names(key);
  if (names.empty()) {
    message += "; `forebay hints` lists them all";
  } else {
    message += "; did you mean ";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) message += i + 1 == names.size() ? " or " : ", ";
      message += names[i];
    }
    message += "?";
  }
  return {Code::bad_hint, message};
}

struct Pair {
  std::string_view key;
  std::string value;
};

/// Takes the next entry off `text`, also where it is malformed; an empty key is an entry to skip.
Status next_pair(std::string_view& text, Pair& pair) {
  const auto equals = text.find_first_of("=;");
  pair.key = trimmed(text.substr(0, equals));
  pair.value.clear();
  if (equals == text.npos || text[equals] == ';') {
    text = equals == text.npos ? std::string_view{} : text.substr(equals + 1);
    if (pair.key.empty()) return {};
    return {Code::bad_hint, "\"" + std::string(pair.key) + "\" is not of the form key=value"};
  }
  const Status nameless{Code::bad_hint, "a hint without a name in \"" + std::string(trimmed(text)) +
                                            "\"; the form is key=value"};
  text = text.substr(equals + 1);
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos || text[begin] != '"') {
    const auto end = std::min(text.find(';'), text.size());
    pair.value = trimmed(text.substr(0, end));
    text = text.substr(std::min(end + 1, text.size()));
    return pair.key.empty() ? nameless : Status{};
  }
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    pair.value += text[at++];
  }
  const auto end = at < text.size() ? std::min(text.find(';', at), text.size()) : text.size();
  const bool closed = at < text.size() && trimmed(text.substr(at + 1, end - at - 1)).empty();
  text = text.substr(std::min(end + 1, text.size()));
  if (!closed)
    return {Code::bad_hint, "the quotes around the value of " + std::string(pair.key) + " do not match"};
  return pair.key.empty() ? nameless : Status{};
}

}  // namespace

std::span<const HintSpec> hint_table() {
  static const std::vector<HintSpec> specs = [] {
    std::vector<HintSpec> list;
    for (const Entry& entry : entries()) list.push_back(entry.spec);
    return list;
  }();
  return specs;
}

Status set_hint(Settings& settings, std::string_view key, std::string_view value, Origin origin) {
  for (const Entry& entry : entries()) {
    if (key != entry.spec.name) continue;
    // From MPI_Info another library's name yields to ours.
    if (!key.starts_with(prefix) && origin == Origin::info && !same_value(settings, Settings{}, entry.field))
      return {};
    const bool is_text = std::holds_alternative<std::string Settings::*>(entry.field);
    if (assign(settings, entry.field, is_text ? value : trimmed(value))) return {};
    // As in the hints of other libraries.
    const bool is_list = value.find_first_of(",:") < value.find('=') && value.find('=') != value.npos;
    return {Code::bad_hint, "hint " + std::string(key) + ": \"" + std::string(value) +
                                "\" does not fit; expected: " + entry.spec.values +
                                (is_list ? "; hints are joined by ';'" : "")};
  }
  if (origin == Origin::info && !key.starts_with(prefix)) return {};
  return unknown_key(key);
}

Status parse_hints(Settings& settings, std::string_view text, Origin origin) {
  Settings parsed = settings;
  Status status;
  while (!text.empty()) {
    Pair pair;
    Status step = next_pair(text, pair);
    if (step.ok() && !pair.key.empty()) step = set_hint(parsed, pair.key, pair.value, origin);
    status.update(std::move(step));
  }
  // Half of a bad command is not obeyed; an info object's good keys are.
  if (status.ok() || origin == Origin::info) settings = std::move(parsed);
  return status;
}

std::string_view word_of(StorageKind kind) {
  return first_word(kind);
}

Status apply_environment(Settings& settings) {
  if (const char* hints = std::getenv("FOREBAY_HINTS")) {
    Status status = parse_hints(settings, hints, Origin::command);
    if (!status.ok()) return {status.code(), "FOREBAY_HINTS: " + status.message()};
  }
  if (const char* enable = std::getenv("FOREBAY_ENABLE"); enable != nullptr && *enable != '\0') {
    Status status = set_hint(settings, "forebay_enable", enable, Origin::command);
    if (!status.ok()) return {status.code(), "FOREBAY_ENABLE: " + status.message()};
  }
  if (const char* stats = std::getenv("FOREBAY_STATS"); stats != nullptr && *stats != '\0')
    settings.stats = stats;
  if (const char* trace = std::getenv("FOREBAY_TRACE"); trace != nullptr && *trace != '\0')
    settings.trace = trace;
  return {};
}

std::string format_hints(const Settings& settings) {
  const Settings defaults;
  std::string text;
  for (const Entry& entry : entries()) {
    if (entry.alias || same_value(settings, defaults, entry.field)) continue;
    if (!text.empty()) text += ';';
    text += std::string(entry.spec.name) + '=' + value_of(settings, entry.field);
  }
  return text;
}

}  // namespace forebay
