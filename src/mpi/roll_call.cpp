// The questions and answers: small messages, which MPI libraries send at once, whether anybody receives them
// or not.
#include "mpi/roll_call.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/status.hpp"
#include "mpi/handles.hpp"

namespace forebay::mpi {
namespace {

constexpr int kTag = 4712;
// The ranks of a job lose patience at about the same time: lower ones first, so that one asks for all.
constexpr double kStaggerSeconds = 0.01;
constexpr double kMostStagger = 10;
// Ranks that wait look for messages at least some fifty times a second.
constexpr double kLeastAnswer = 1;
constexpr double kMostAnswer = 5;

struct Note {
  long number;  ///< the asker's, to know old answers
  int answer;   ///< 0: a question
  std::array<char, 40> call;
  std::array<char, 160> file;  ///< the end of the name
};

template <std::size_t N>
void copy_end(std::array<char, N>& to, std::string_view from) {
  from.remove_prefix(from.size() - std::min(from.size(), N - 1));
  from.copy(to.data(), N - 1);
}

Note make_note(long number, bool answer, std::string_view call, std::string_view file) {
  Note note{number, answer ? 1 : 0, {}, {}};
  copy_end(note.call, call);
  copy_end(note.file, file);
  return note;
}

bool same_call(const Note& a, const Note& b) {
  return a.call == b.call && a.file == b.file;
}

struct Sent {
  std::shared_ptr<const Note> note;
  MPI_Request request;
};

// Threads of one process share a roll, so whichever of them waits answers for all.
struct Shared {
  std::mutex mutex;
  std::vector<RollCall*> calls;
  std::vector<Sent> sent;
  long questions = 0;

  static Shared& instance() {
    static auto* shared = new Shared;  // never destroyed: exit order is not ours to choose
    return *shared;
  }

  void send(const std::shared_ptr<const Note>& note, int to, MPI_Comm roll) {
    sent.push_back({note, MPI_REQUEST_NULL});
    MPI_Isend(note.get(), static_cast<int>(sizeof *note), MPI_BYTE, to, kTag, roll, &sent.back().request);
  }

  void tidy() {
    std::erase_if(sent, [](Sent& one) {
      int done = 0;
      MPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }
};

}  // namespace

std::string list_ranks(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    std::string part = std::to_string(ranks[i]);
    if (last == i + 1) {
      parts.push_back(part);
      part = std::to_string(ranks[last]);
    } else if (last > i) {
      part += "-" + std::to_string(ranks[last]);
    }
    parts.push_back(part);
    i = last + 1;
  }
  constexpr std::size_t most = 16;
  if (parts.size() > most) {
    parts.resize(most);
    parts.push_back("more, " + std::to_string(ranks.size()) + " in all");
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string name_of_call(std::string_view call, std::string_view file) {
  return file.empty() ? std::string(call) : "the " + std::string(call) + " of " + std::string(file);
}

std::string sentence(const Absence& a) {
  std::string text = "rank " + std::to_string(a.rank) + " of " + std::to_string(a.ranks) + " has waited " +
                     std::to_string(a.seconds) + " s in " + name_of_call(a.call, a.file) + ": ";
  std::vector<int> gone;
  for (const int rank : a.missing) {
    if (!a.elsewhere.contains(rank)) gone.push_back(rank);
  }
  const std::string verb = gone.size() == 1 ? " has" : " have";
  if (gone.empty() && a.elsewhere.empty()) {
    text += "all ranks are in it, and wait for MPI or for the file system";
  } else if (a.all_here && a.elsewhere.empty()) {
    text += list_ranks(gone) + verb +
            " not finished a read, write or exchange, or called something else than the others";
  } else if (!gone.empty()) {
    text += list_ranks(gone) + verb + " not come to it";
  }
  // Few are enough to see what is wrong.
  std::size_t told = 0;
  for (const auto& [rank, where] : a.elsewhere) {
    if (++told > 4) break;
    if (!gone.empty() || told > 1) text += "; ";
    text += "rank " + std::to_string(rank) + " waits in " + where;
  }
  return text;
}

void discard_notes(MPI_Comm roll) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  Note note;
  while (MPI_Improbe(MPI_ANY_SOURCE, kTag, roll, &found, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         found != 0 &&
         MPI_Mrecv(&note, static_cast<int>(sizeof note), MPI_BYTE, &message, MPI_STATUS_IGNORE) ==
             MPI_SUCCESS) {
  }
}

RollCall::RollCall(MPI_Comm roll, std::string_view call, std::string_view file, int patience_seconds)
    : roll_(roll),
      rank_(mpi::rank(roll)),
      ranks_(mpi::size(roll)),
      call_(call),
      file_(file),
      patience_(patience_seconds) {
  Shared& shared = Shared::instance();
  const std::lock_guard lock(shared.mutex);
  shared.calls.push_back(this);
}

RollCall::~RollCall() {
  Shared& shared = Shared::instance();
  const std::lock_guard lock(shared.mutex);
  std::erase(shared.calls, this);
}

// With the lock held.
void RollCall::listen() {
  Shared& shared = Shared::instance();
  if (!shared.sent.empty()) shared.tidy();
  for (;;) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, kTag, roll_, &found, &message, &status) != MPI_SUCCESS || found == 0)
      return;
    Note note{};
    if (MPI_Mrecv(&note, static_cast<int>(sizeof note), MPI_BYTE, &message, &status) != MPI_SUCCESS) return;
    const int from = status.MPI_SOURCE;
    if (note.answer != 0) {
      for (RollCall* call : shared.calls) {
        if (call->number_ != note.number || call->asked_at_ < 0) continue;
        const bool here = same_call(note, make_note(0, true, call->call_, call->file_));
        call->answers_[from] = here ? "" : name_of_call(note.call.data(), note.file.data());
      }
      continue;
    }
    // Whichever call of this process is the one that is asked about.
    const RollCall* answering = this;
    for (RollCall* call : shared.calls) {
      if (call->roll_ != roll_ || !same_call(note, make_note(0, false, call->call_, call->file_))) continue;
      answering = call;
      if (from < rank_) call->settled_ = true;
    }
    shared.send(std::make_shared<Note>(make_note(note.number, true, answering->call_, answering->file_)),
                from, roll_);
  }
}

// With the lock held.
void RollCall::ask() {
  Shared& shared = Shared::instance();
  number_ = ++shared.questions;
  const auto note = std::make_shared<const Note>(make_note(number_, false, call_, file_));
  for (int r = 0; r < ranks_; ++r) {
    if (r != rank_) shared.send(note, r, roll_);
  }
}

void RollCall::look_around(double seconds, bool all_here, const char* remedy) {
  const std::lock_guard lock(Shared::instance().mutex);
  listen();
  if (settled_) return;
  if (asked_at_ < 0) {
    if (seconds < patience_ + std::min(kMostStagger, rank_ * kStaggerSeconds)) return;
    ask();
    asked_at_ = seconds;
    return;
  }
  if (seconds < asked_at_ + std::clamp(patience_ / 2, kLeastAnswer, kMostAnswer)) return;
  settled_ = true;
  Absence absence{rank_, ranks_, static_cast<int>(seconds), call_, file_, all_here, {}, {}};
  for (int r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    const auto answer = answers_.find(r);
    if (answer == answers_.end())
      absence.missing.push_back(r);
    else if (!answer->second.empty())
      absence.elsewhere.emplace(r, answer->second);
  }
  const bool ask_for_remedy = *remedy != '\0' && !absence.missing.empty() && !all_here;
  warn_few("long wait", sentence(absence) + (ask_for_remedy ? std::string(". ") + remedy : ""), kMostRemarks);
}

}  // namespace forebay::mpi
