#include "names.hpp"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "standing.hpp"

namespace mixed {
namespace {

namespace fs = std::filesystem;

const char* const decoy_text = "no library wrote this";

}  // namespace

const std::vector<std::string>& Folders::names() {
  static const std::vector<std::string> names{"", "/in", "/with space", "/in/deep er"};
  return names;
}

void Folders::make() const {
  fs::remove_all(top_);
  for (const std::string& name : names()) fs::create_directories(top_ + name);
}

void Folders::remove() const {
  std::error_code ignored;
  fs::remove_all(top_, ignored);
}

void Folders::go(Dice& dice, bool really) {
  here_ = top_ + dice.pick(names());
  if (really && ::chdir(here_.c_str()) != 0) fail("chdir " + here_);
}

Name::Name(Dice& dice, const Folders& folders, int number, const char* ending) {
  static constexpr std::array heads{"out",       "wrfout_d01_2005-08-28_00:00:00",
                                    "case1:out", "it's \"quoted\"",
                                    "two words", "tab\tand\nline",
                                    "50%{n}$x",  "-o"};
  std::string head = dice.pick(heads);
  for (char& c : head) {
    if (c == ':' && !folders.colons()) c = '_';
  }
  const std::string tail = std::to_string(number) + ending;
  const std::string folder = folders.top() + dice.pick(folders.names());
  real_ = folder + "/" + head + tail;
  const bool linked = dice.one_in(3);
  const std::string elsewhere = folders.top() + dice.pick(folders.names());
  if (linked) link_ = elsewhere + "/link " + tail;
  // What the name would be without what comes before a colon.
  const std::size_t colon = head.find(':');
  if (colon != std::string::npos) {
    for (const std::string& name : folders.names())
      decoys_.push_back(folders.top() + name + "/" + head.substr(colon + 1) + tail);
  }
}

void Name::prepare() const {
  if (!link_.empty()) fs::create_symlink(real_, link_);
  for (const std::string& decoy : decoys_) std::ofstream(decoy) << decoy_text;
}

std::string Name::draw(Dice& dice, const Folders& folders, bool relative) const {
  const bool by_link = dice.one_in(2);
  const int64_t form = dice.below(3);
  const fs::path path(by_link && !link_.empty() ? link_ : real_);
  if (!relative || form == 0) return path.string();
  std::string name = path.lexically_relative(folders.here()).string();
  return form == 1 ? name : "./" + name;
}

void Name::check_decoys() const {
  for (const std::string& decoy : decoys_) {
    std::ifstream in(decoy);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (text != decoy_text) fail(decoy + " was written, in place of " + real_);
  }
}

bool colons_belong_to_names(const std::string& folder) {
  int rank = 0, belong = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const std::string name = folder + "/probe:colon";
    MPI_File file = MPI_FILE_NULL;
    if (MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
        MPI_SUCCESS)
      MPI_File_close(&file);
    belong = fs::exists(name) ? 1 : 0;
    std::error_code ignored;
    fs::remove(name, ignored);
    if (belong == 0) fs::remove("colon", ignored);
  }
  MPI_Bcast(&belong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return belong == 1;
}

}  // namespace mixed
