// What a test, its ranks and the preloaded inject.c share: which fault is armed, where it has struck, and
// what each rank is doing. It lies in the file that FAULTS_CONTROL names; zeros are a good beginning.
#pragma once

#include <stdint.h>

enum {
  kFaultRanks = 16,  // ranks from here on are not told apart
  kFaultKeeperSlot = kFaultRanks - 1,
  kFaultWords = 48,
  kFaultControlBytes = 8192,
};

enum fault_calls {  // bits
  kFaultWrite = 1,
  kFaultRead = 2,
  kFaultSync = 4,
  kFaultSize = 8,
  kFaultOpen = 16,
  kFaultClose = 32,
};

enum fault_kind { kFaultError = 1, kFaultShort = 2, kFaultSlow = 3 };

// An owner: whoever makes that call first. The keeper process: FAULTS_KEEPER says to a process that it is
// one.
enum fault_rank { kFaultEveryRank = -1, kFaultOwner = -2, kFaultKeeper = -3 };

struct fault_control {
  int32_t armed;       // set last; all below is read only while it is
  int32_t calls;       // of fault_calls
  int32_t kind;        // of fault_kind
  int32_t error;       // errno, with kFaultError
  int32_t rank;        // a rank of MPI_COMM_WORLD, or of fault_rank
  int32_t number;      // the call that fails, from 1 on
  int32_t again;       // 0: that one alone; k: from it on each k-th
  int32_t owner;       // 1 + the rank, once one is known
  int32_t struck;      // how often
  int32_t any_number;  // calls of all ranks
  int32_t numbers[kFaultRanks];
  int32_t struck_by[kFaultRanks];
  char place[1024];  // a path, or how paths begin and a *
};

struct fault_progress {
  int32_t steps;
  int32_t cell;
  char doing[kFaultWords];
};

struct fault_shared {
  struct fault_progress ranks[kFaultRanks];  // first: run.py reads them
  struct fault_control control;
};
