// Playing a cell on all ranks, and judging what each of them heard and what the file holds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "armed.hpp"
#include "cell.hpp"
#include "library.hpp"
#include "log_folder.hpp"
#include "model.hpp"

namespace faults {

struct Verdict {
  std::string wrong;  ///< "": nothing; the same on all ranks
  int struck = 0;
  bool told = false;
  bool over = false;  ///< the library cannot go on with the file, which is left open: the program has to end
};

class Player {
 public:
  /// `folder`: for files, and "err.RANK", to which stderr goes. `log`: the folder of the hint forebay_log.
  Player(Faults& faults, std::string folder, std::string log);
  Verdict play(const Cell& cell, int number);

 private:
  struct Outcome {
    std::vector<char> well;  // of each rank
    std::string said;        // by all ranks; on rank 0
    int struck = 0;
    bool all() const;
    bool none() const;
  };
  template <class F>
  Outcome call(const std::string& name, bool faulty, F&& f);
  template <class F>
  bool must(const std::string& name, F&& f);
  template <class F>
  bool must_in_the_end(const std::string& name, F&& f);
  void judge(const Outcome& outcome, const std::string& name, bool collective);
  void wrong(const std::string& what);
  void agree_on_wrong();
  std::string bytes_of_file() const;

  void run();
  void run_op();
  void write(Way way, const Part& whole, const std::string& name, bool faulty);
  void write_many(Way way);
  void read(const std::string& name);
  bool change_definition();
  bool crash();
  void recover();
  void finish();
  void complete();
  void compare();
  Part mine(const Part& whole, bool stripes, int rank) const;

  Faults& faults_;
  bool has_log() const { return !reference_ && cell_->hints.find("forebay_log=") != std::string::npos; }
  bool hints_say(const char* hint) const {
    return !reference_ && cell_->hints.find(hint) != std::string::npos;
  }

  std::string folder_;
  LogFolder log_;
  int rank_ = 0, ranks_ = 1, err_ = -1;
  std::map<std::string, std::string> references_;  // on rank 0

  const Cell* cell_ = nullptr;
  int number_ = 0, told_before_ = 0;
  bool reference_ = false;  // the stock library, no faults
  std::string path_, wrong_;
  std::unique_ptr<Library> library_;
  Model model_;
  Verdict verdict_;
};

}  // namespace faults
