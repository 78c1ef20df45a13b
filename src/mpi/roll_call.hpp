// Who waits: one rank asks all, those that wait answer, and it says who is missing.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/communicator.hpp"

namespace forebay::mpi {

inline constexpr int kMostRemarks = 10;  ///< of a process

/// "rank 3", "ranks 1, 4-6 and 9".
std::string list_ranks(const std::vector<int>& ranks);

/// What a rank says that has waited for `seconds`. `missing`: ranks that do not wait; `elsewhere`: those that
/// wait in something else, and what that is.
struct Absence {
  int rank = 0;
  int ranks = 1;
  int seconds = 0;
  std::string_view call;
  std::string_view file;
  bool all_here = false;
  std::vector<int> missing;
  std::map<int, std::string> elsewhere;
};
std::string sentence(const Absence& absence);
std::string name_of_call(std::string_view call, std::string_view file);

/// Receives, without waiting, the questions and answers that came too late for their calls: freeing a
/// communicator that has unreceived messages is an error in MPICH.
void discard_notes(MPI_Comm roll);

/// One call's part in it, from the moment that it has waited a little. Only ranks that wait take part: nobody
/// can ask one that computes.
class RollCall final : public forebay::Communicator::Search {
 public:
  /// On `roll` nobody else sends or receives messages.
  RollCall(MPI_Comm roll, std::string_view call, std::string_view file, int patience_seconds);
  ~RollCall() override;
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  /// Answers who asks; asks when patience is over; says so, once, when it knows.
  void look_around(double seconds, bool all_here, const char* remedy) override;

 private:
  void listen();
  void ask();

  MPI_Comm roll_;
  int rank_;
  int ranks_;
  std::string call_;
  std::string file_;
  double patience_;
  double asked_at_ = -1;
  long number_ = 0;       // of the question
  bool settled_ = false;  // said, or left to a lower rank
  std::map<int, std::string> answers_;
};

}  // namespace forebay::mpi
