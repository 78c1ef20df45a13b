// MPI's communicators as the engine's, and MPI as the process's runtime.
#pragma once

#include <mpi.h>

#include "base/status.hpp"
#include "mpi/handles.hpp"
#include "ranks/collective_call.hpp"
#include "ranks/communicator.hpp"

namespace forebay::mpi {

/// Of the program's, or of its own. Its collective operations wait by MPI_Test, so that long waits are said.
class Communicator final : public forebay::Communicator {
 public:
  /// The handle stays the caller's. Cheap enough for one call.
  explicit Communicator(MPI_Comm comm)
      : forebay::Communicator(mpi::rank(comm), mpi::size(comm)), comm_(comm) {}
  explicit Communicator(Comm own) : Communicator(own.get()) { own_ = std::move(own); }
  ~Communicator() override;

  MPI_Comm get() const { return comm_; }

  bool reduce(std::span<std::int64_t> values, Op op) const override;
  bool reduce(std::span<std::int64_t> least, std::span<std::int64_t> sums,
              const std::function<void()>& meanwhile) const override;
  bool broadcast(void* data, std::size_t bytes, int root) const override;
  void barrier() const override;
  void gather(const void* mine, std::size_t bytes, void* all, int root) const override;
  std::vector<std::int64_t> concatenate(std::span<const std::int64_t> mine) const override;
  std::unique_ptr<Started> start_minimum(std::span<std::int64_t> values) const override;
  std::unique_ptr<forebay::Communicator> split(int color, int key) const override;
  std::unique_ptr<forebay::Communicator> split_by_node() const override;
  std::unique_ptr<forebay::Communicator> duplicate() const override;
  std::unique_ptr<Rail> make_rail(const forebay::Communicator& rails, Link wanted, Link& used) const override;
  bool same_ranks(const forebay::Communicator& other) const override;
  bool is_on_one_node() const override;
  const Machine& machine() const override { return this_machine(); }
  Processors processors() const override { return processors_of_this_thread(); }
  void (*progress() const)() override;
  bool threads_are_free() const override;
  const char* thread_level() const override;
  std::shared_ptr<void> hold() const override;
  [[noreturn]] void abort(const char* why) const override;
  std::unique_ptr<Search> search(std::string_view call, std::string_view file, int patience_seconds,
                                 bool own) const override;

 private:
  MPI_Comm comm_;
  Comm own_;
};

/// Of the engine's communicators, where they are MPI's.
inline MPI_Comm comm_of(const forebay::Communicator& ranks) {
  return static_cast<const Communicator&>(ranks).get();
}

/// MPI is what the process runs under: before anything of the engine's is used.
void use_mpi() noexcept;

/// Operations on any communicator that wait as those above do. MPI's code.
int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int barrier(MPI_Comm comm);
int duplicate(MPI_Comm comm, MPI_Comm* made);

}  // namespace forebay::mpi
