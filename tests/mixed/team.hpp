// The communicators that files are opened on: all ranks, a duplicate, another order, some of them, one alone.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "../dice.hpp"

namespace mixed {

using test::Dice;

/// The ranks of the job as one thread of each sees them. On a dry run, which only keeps the model, there is
/// no MPI, and this is none of the ranks.
struct World {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = -1;
  int ranks = 1;
  bool dry() const { return rank < 0; }
  void meet() const {
    if (!dry()) MPI_Barrier(comm);
  }
};

class Team {
 public:
  Team() = default;
  /// Collective over the world; all draw the same.
  Team(const World& world, Dice& dice);
  Team(Team&& other) noexcept;
  Team& operator=(Team&& other) noexcept;
  ~Team();

  /// Of this process in the team; -1: it is none of it.
  int me() const { return me_; }
  bool in() const { return me_ >= 0; }
  int size() const { return static_cast<int>(members_.size()); }
  /// To open a file on; MPI_COMM_NULL outside, and after let_go().
  MPI_Comm comm() const { return comm_; }
  /// The program frees its communicator while the file is open.
  void let_go();
  /// Among the members.
  void meet() const {
    if (in()) MPI_Barrier(own_);
  }
  std::string text() const;

 private:
  std::vector<int> members_;  // ranks of the world, in the team's order
  const char* kind_ = "";
  int me_ = -1;
  MPI_Comm comm_ = MPI_COMM_NULL, own_ = MPI_COMM_NULL;
  bool ours_ = false;  // comm_ has to be freed
};

}  // namespace mixed
