#include "ranks/collective_call.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/thread_state.hpp"

namespace forebay {
namespace {

constexpr double kLookAround = 0.1;

}  // namespace

CollectiveCall::CollectiveCall(const About& about) : about_(about), outermost_(thread_state.call == nullptr) {
  if (outermost_) thread_state.call = this;
}

CollectiveCall::~CollectiveCall() {
  if (outermost_) thread_state.call = nullptr;
}

void CollectiveCall::all_have_come() {
  if (thread_state.call != nullptr) thread_state.call->all_here_ = true;
}

void CollectiveCall::look_around(double seconds) {
  if (about_.ranks == nullptr) return;
  if (!search_) search_ = about_.ranks->search(about_.call, about_.file, about_.patience_seconds, about_.own);
  if (search_) search_->look_around(seconds, all_here_, about_.remedy);
}

void waited(double seconds) noexcept {
  CollectiveCall* const call = thread_state.call;
  if (call == nullptr || seconds < kLookAround || call->about_.patience_seconds <= 0) return;
  try {
    call->look_around(seconds);
  } catch (...) {
    call->about_.patience_seconds = 0;  // no memory for a remark
  }
}

const Machine& Communicator::machine() const {
  static const Machine unknown;
  return unknown;
}

void Communicator::abort(const char* why) const {
  std::fprintf(stderr, "forebay: %s\n", why);
  std::abort();
}

std::unique_ptr<Communicator::Search> Communicator::search(std::string_view, std::string_view, int,
                                                           bool) const {
  return nullptr;
}

}  // namespace forebay
