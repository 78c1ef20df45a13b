#include "team.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mixed {

Team::Team(const World& world, Dice& dice) {
  std::vector<int> all(static_cast<std::size_t>(world.ranks));
  std::iota(all.begin(), all.end(), 0);
  const int64_t kind = dice.below(10);
  members_ = all;
  if (kind <= 1) {
    kind_ = "world";
  } else if (kind <= 3) {
    kind_ = "duplicate";
  } else if (kind == 4) {
    kind_ = "reversed";
    std::reverse(members_.begin(), members_.end());
  } else if (kind == 5) {
    kind_ = "self";
    members_.assign(1, static_cast<int>(dice.below(world.ranks)));
  } else {
    kind_ = kind == 9 ? "group" : "some";
    for (std::size_t i = members_.size(); i > 1; --i)
      std::swap(members_[i - 1], members_[static_cast<std::size_t>(dice.below(static_cast<int64_t>(i)))]);
    members_.resize(static_cast<std::size_t>(dice.between(1, world.ranks)));
    if (dice.one_in(2)) std::sort(members_.begin(), members_.end());
  }
  if (world.dry()) return;
  const auto found = std::find(members_.begin(), members_.end(), world.rank);
  me_ = found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
  if (kind <= 1) {
    comm_ = world.comm;
  } else if (kind == 5) {
    comm_ = in() ? MPI_COMM_SELF : MPI_COMM_NULL;
  } else if (kind <= 3) {
    MPI_Comm_dup(world.comm, &comm_);
    ours_ = true;
  } else if (kind == 9) {
    MPI_Group everybody, some;
    MPI_Comm_group(world.comm, &everybody);
    MPI_Group_incl(everybody, size(), members_.data(), &some);
    if (in()) MPI_Comm_create_group(world.comm, some, 7, &comm_);
    MPI_Group_free(&some);
    MPI_Group_free(&everybody);
    ours_ = in();
  } else {
    MPI_Comm_split(world.comm, in() ? 0 : MPI_UNDEFINED, me_, &comm_);
    ours_ = in();
  }
  if (in()) MPI_Comm_dup(comm_, &own_);
}

Team::Team(Team&& other) noexcept {
  *this = std::move(other);
}

Team& Team::operator=(Team&& other) noexcept {
  std::swap(members_, other.members_);
  std::swap(kind_, other.kind_);
  std::swap(me_, other.me_);
  std::swap(comm_, other.comm_);
  std::swap(own_, other.own_);
  std::swap(ours_, other.ours_);
  return *this;
}

Team::~Team() {
  let_go();
  if (own_ != MPI_COMM_NULL) MPI_Comm_free(&own_);
}

void Team::let_go() {
  if (ours_) MPI_Comm_free(&comm_);
  ours_ = false;
  comm_ = MPI_COMM_NULL;
}

std::string Team::text() const {
  std::string text = kind_;
  for (const int member : members_) text += " " + std::to_string(member);
  return text;
}

}  // namespace mixed
