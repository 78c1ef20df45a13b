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
  Status begin_outside(bool collective) override;
  void end_outside() override { outside_.reset(); }
  void handle_given_away() override;
  bool commits() const override { return false; }

 private:
  Sieve sieve_;
  std::optional<Sieve::Passing> outside_;  // between begin_outside and end_outside
};

}  // namespace forebay
