// Says where each thread of this rank stands, when asked, when something fails, and when nothing has moved
// for too long: then the process ends instead of hanging.
#pragma once

#include <cstdint>
#include <string>

namespace mixed {

/// How the failing program is played again, for messages.
void set_program(const std::string& how);
/// Starts the watch: after `seconds` without a word from some thread every rank says where it stands, and
/// ends.
void start_watch(int rank, int seconds);
void stop_watch();

/// A thread begins, and ends; the watch looks at those that run.
void thread_begins(int thread);
void thread_ends();
/// This thread is about to do this.
void at(const std::string& what);

/// Prints what is wrong, where, and the seed, and ends all ranks.
[[noreturn]] void fail(const std::string& what);

}  // namespace mixed
