// What a client's run prints: every return code and what it read back, a line a rank, the same under every
// driver.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace forebay::test {

class ClientLog {
 public:
  explicit ClientLog(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
  }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// A call that must succeed.
  void must(const char* what, int err, const char* text) {
    if (err != 0) wrong(std::string(what) + ": " + text);
  }
  /// A call whose code is to be the same under every driver.
  void code(const char* what, int err) { line(std::string(what) + "=" + std::to_string(err)); }
  /// What was read back; `expected` in the same order.
  template <class T>
  void values(const char* what, const std::vector<T>& read, const std::vector<T>& expected) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto* bytes = reinterpret_cast<const unsigned char*>(read.data());
    for (std::size_t i = 0; i < read.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    line(std::string(what) + " " + std::to_string(hash));
    if (read != expected) wrong(std::string(what) + " is not what was put");
  }
  void line(const std::string& text) { text_ += " " + text + "\n"; }
  void wrong(const std::string& text) {
    line("WRONG " + text);
    ++wrong_;
  }

  /// Collective: prints by rank, and tells the exit status.
  int finish() {
    for (int turn = 0; turn < ranks_; ++turn) {
      int length = static_cast<int>(text_.size());
      if (turn == 0 && rank_ == 0) std::printf("rank 0\n%s", text_.c_str());
      if (turn > 0 && rank_ == turn) {
        MPI_Send(&length, 1, MPI_INT, 0, 0, comm_);
        MPI_Send(text_.data(), length, MPI_CHAR, 0, 1, comm_);
      }
      if (turn > 0 && rank_ == 0) {
        MPI_Recv(&length, 1, MPI_INT, turn, 0, comm_, MPI_STATUS_IGNORE);
        std::string text(static_cast<std::size_t>(length), ' ');
        MPI_Recv(text.data(), length, MPI_CHAR, turn, 1, comm_, MPI_STATUS_IGNORE);
        std::printf("rank %d\n%s", turn, text.c_str());
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong_, 1, MPI_INT, MPI_SUM, comm_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 1;
  int wrong_ = 0;
  std::string text_;
};

}  // namespace forebay::test
