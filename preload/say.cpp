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

bool first_by_launcher() {
  constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",           "PMI_RANK",
                                   "PALS_RANKID",          "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (const char* name : names) {
    const char* rank = getenv(name);
    if (rank != nullptr && *rank != '\0') return strcmp(rank, "0") == 0;
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
  char line[2048] = "forebay: ";
  const size_t prefix = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  size_t end = strlen(line);
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
