// Who speaks, and speaking.
#include "say.hpp"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace forebay::preload {
namespace {

/// Whether one of the words of a list between blanks is this one: Open MPI lists the first rank of each program
/// of a job.
bool has_word(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; at != nullptr && *at != '\0'; at += strspn(at, " ")) {
    const size_t size = strcspn(at, " ");
    if (size == length && strncmp(at, word, size) == 0) return true;
    at += size;
  }
  return false;
}

bool first_by_launcher() {
  constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",           "PMI_RANK",
                                   "PALS_RANKID",          "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (const char* name : names) {
    const char* rank = getenv(name);
    if (rank != nullptr && *rank != '\0')
      return strcmp(rank, "0") == 0 || has_word(getenv("OMPI_FIRST_RANKS"), rank);
  }
  return true;
}

template <class Function>
bool find(void* library, const char* name, Function*& out) {
  void* address = library != nullptr ? dlsym(library, name) : nullptr;
  if (address == nullptr) address = dlsym(RTLD_DEFAULT, name);
  out = reinterpret_cast<Function*>(address);
  return out != nullptr;
}

/// Writes one character of a line to `out`, at most four bytes: as it is where it is ASCII text, else \xHH.
size_t escape(char c, char* out) {
  const auto value = static_cast<unsigned char>(c);
  if (value >= 0x20 && value < 0x7f) {
    *out = c;
    return 1;
  }
  constexpr char digits[] = "0123456789abcdef";
  out[0] = '\\';
  out[1] = 'x';
  out[2] = digits[value >> 4];
  out[3] = digits[value & 15];
  return 4;
}

}  // namespace

bool is_first(void* library, uintptr_t comm) {
  if (first_by_launcher()) return true;
  int (*initialized)(int*) = nullptr;
  int (*comm_rank)(uintptr_t, int*) = nullptr;
  int (*comm_size)(uintptr_t, int*) = nullptr;
  int running = 0;
  int rank = -1;
  int size = 0;
  // A communicator may be without the program's first rank; one of a single rank speaks for nobody else.
  return comm != 0 && find(library, "MPI_Initialized", initialized) &&
         find(library, "MPI_Comm_rank", comm_rank) && find(library, "MPI_Comm_size", comm_size) &&
         initialized(&running) == 0 && running != 0 && comm_rank(comm, &rank) == 0 &&
         comm_size(comm, &size) == 0 && rank == 0 && size > 1;
}

void say(const char* format, ...) {
  constexpr char prefix[] = "forebay: ";
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  // Names in it may hold anything: it stays one line, and nothing is a command to the terminal.
  char line[sizeof prefix + 4 * sizeof text + 1];
  size_t end = sizeof prefix - 1;
  memcpy(line, prefix, end);
  for (const char* at = text; *at != '\0'; ++at) end += escape(*at, line + end);
  line[end++] = '\n';
  size_t done = 0;
  while (done < end) {
    const ssize_t put = write(STDERR_FILENO, line + done, end - done);
    if (put <= 0) return;
    done += static_cast<size_t>(put);
  }
}

bool verbose() {
  const char* value = getenv("FOREBAY_VERBOSE");
  return value != nullptr && *value != '\0' && strcmp(value, "0") != 0;
}

}  // namespace forebay::preload
