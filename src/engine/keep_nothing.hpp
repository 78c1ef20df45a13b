// Strict mode: what is put is in the file when the call returns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/keeper.hpp"
#include "engine/sieve.hpp"

namespace forebay {

class KeepNothing final : public Keeper {
 public:
  using Keeper::Keeper;

  Status write_all(std::vector<Put>& puts, Status mine, std::span<std::int64_t> agree_max,
                   When when) override;
  Status write(std::span<const Put> puts, When when) override;
  Status write_at(const Piece& piece) override;
  bool completes(std::span<const Put> puts) const override;
  Status begin_direct_writes(bool collective) override;
  void end_direct_writes() override { direct_writes_.reset(); }
  void handle_given_away() override;
  bool commits() const override { return false; }

 private:
  Sieve sieve_;
  std::optional<Sieve::Bypassing> direct_writes_;  // between begin_direct_writes and end_direct_writes
};

}  // namespace forebay
