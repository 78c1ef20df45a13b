// What the C++ headers take and refuse at compile time; and that forebay::Hints has a setter for every hint.
#include <forebay/file.hpp>
#include <forebay/tcio.hpp>

#include <array>
#include <list>
#include <string_view>

#include "types.hpp"

namespace {

using forebay::Box;
using forebay::File;
using forebay::Hints;
using forebay::Pieces;
using forebay::Tcio;

template <class T>
concept PutsBox = requires(File file, Box box, T&& memory) { file.put_all(box, std::forward<T>(memory)); };
template <class T>
concept PutsLater =
    requires(File file, Pieces list, T&& memory) { file.iput(list, std::forward<T>(memory)); };
template <class T>
concept GetsBox = requires(File file, Box box, T&& memory) { file.get_all(box, std::forward<T>(memory)); };
template <class T>
concept GetsLater =
    requires(File file, Pieces list, T&& memory) { file.iget(list, std::forward<T>(memory)); };
template <class T>
concept AddsPut =
    requires(forebay::Puts puts, Box box, T&& memory) { puts.add(box, std::forward<T>(memory)); };
template <class T>
concept TcioWrites = requires(Tcio file, T&& memory) { file.write_at(0, std::forward<T>(memory)); };
template <class T>
concept TcioReads = requires(Tcio file, T&& memory) { file.read_at(0, std::forward<T>(memory)); };

// Memory that stays, and is not const where it is filled.
using Vector = std::vector<double>;
static_assert(PutsBox<Vector&> && PutsBox<const Vector&> && PutsBox<Vector> && PutsBox<std::string> &&
              PutsBox<std::span<const int>> && PutsBox<std::array<std::array<float, 3>, 4>&> &&
              PutsBox<const int (&)[4]>);
static_assert(PutsLater<Vector&> && !PutsLater<Vector> && PutsLater<std::span<const int>>);
static_assert(AddsPut<const Vector&> && !AddsPut<Vector>);
static_assert(GetsBox<Vector&> && !GetsBox<Vector> && !GetsBox<const Vector&> && GetsBox<std::span<int>> &&
              !GetsBox<std::span<const int>> && GetsBox<std::string&> && !GetsBox<std::string_view> &&
              GetsBox<int (&)[4]>);
static_assert(GetsLater<Vector&> && !GetsLater<Vector> && !GetsLater<const Vector&>);
static_assert(TcioWrites<Vector> && TcioReads<Vector&> && !TcioReads<Vector> && !TcioReads<const Vector&>);
// Elements that follow each other and are their bytes.
static_assert(!PutsBox<std::vector<std::string>&> && !PutsBox<std::list<int>&> &&
              !PutsBox<std::vector<bool>&> && !PutsBox<double> && !PutsBox<const double*>);
// Modes are no numbers.
static_assert(!std::is_constructible_v<File, MPI_Comm, const char*, int> &&
              std::is_constructible_v<File, MPI_Comm, const char*, forebay::Mode> &&
              std::is_constructible_v<Tcio, MPI_Comm, const char*, forebay::Mode, Hints> &&
              !std::is_copy_constructible_v<File> && std::is_nothrow_move_constructible_v<File>);

int failures = 0;

void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  ++failures;
}

// settings.def has names of the library's own.
constexpr const char *bytes_values = "", *unit_values = "";
using Mode = Hints::Gather;
using KeeperUse = Hints::Keeper;
using Drain = Hints::Drain;
using LogSync = Hints::LogSync;
using LogClose = Hints::LogClose;
using LogSafety = Hints::LogSafety;
using StageKind = Hints::StageKind;
using StageAhead = Hints::StageAhead;
using Check = Hints::Check;
using Link = Hints::Link;
using Rounds = Hints::Rounds;
using StorageKind = Hints::Storage;
using FillHoles = Hints::FillHoles;
using Metadata = Hints::Metadata;
using NewStripes = Hints::Stripes;
using NodeChoice = const char*;

// What `set` makes of a value: the hint, with a value that the library takes as this one.
template <class T, class Set>
void check_setter(const char* hint, const std::string& words, Set&& set) {
  const auto check = [&](T value, const std::string& word) {
    Hints hints;
    set(hints, value);
    if (hints.entries().size() != 1 || hints.entries()[0].first != hint)
      return fail(std::string("another hint than ") + hint);
    const std::string& text = hints.entries()[0].second;
    if (!word.empty() && text != word) fail(std::string(hint) + " is " + text + ", not " + word);
    if (const std::string why = test::why_refused(hint, text); !why.empty()) fail(why);
  };
  if constexpr (std::is_enum_v<T>) {
    int value = 0;
    for (std::size_t at = 0; at <= words.size(); ++value) {
      const std::size_t end = std::min(words.find(" | ", at), words.size());
      check(static_cast<T>(value), words.substr(at, end - at));
      at = end + 3;
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    check(true, "on");
    check(false, "off");
  } else if constexpr (std::is_same_v<T, std::string>) {
    check("a path", "a path");
  } else if constexpr (std::is_same_v<T, NewStripes>) {
    check({16, 4 << 20}, "16x4194304");
    check({}, "auto");
  } else if constexpr (std::is_same_v<T, NodeChoice>) {
    check("all", "all");
    check("4", "4");
    check("0-3,8", "0-3,8");
  } else if constexpr (std::is_same_v<T, int>) {
    check(7, "7");
  } else {
    check(std::int64_t{5} << 30, std::to_string(std::int64_t{5} << 30));
  }
}

// In a template, so that a setter that is missing can be told from one that is wrong.
template <class H>
void check_all() {
  const std::string tests = "For tests:";
#define SETTING(type, member, value, ranks, reads, hint, values, meaning)           \
  if constexpr (requires(H hints, type v) { hints.member(v); }) {                   \
    check_setter<type>(hint, values, [](H& hints, type v) { hints.member(v); });    \
  } else if (std::string(meaning).compare(0, tests.size(), tests) != 0) {           \
    fail(std::string(hint) + " has no setter: forebay::Hints needs " #member "()"); \
  }
#include "base/settings.def"
}

}  // namespace

int main(int argc, char** argv) {
  check_all<Hints>();
  MPI_Init(&argc, &argv);
  // The last value of a key wins; the handle is the object's.
  {
    const forebay::Info info = Hints().mode(Mode::strict).set("cb_nodes", "3").mode(Mode::commit).info();
    char value[100] = "";
    int there = 0, keys = 0;
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_get(info, "forebay_mode", 99, value, &there);
    if (keys != 2 || there == 0 || std::string(value) != "commit") fail("an Info of two hints");
    forebay::Info moved(Hints().enabled(false).info());
    moved = Hints().info();
    if (static_cast<MPI_Info>(moved) != MPI_INFO_NULL) fail("an Info of nothing");
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
