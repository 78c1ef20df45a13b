// wait, wait_all and cancel: puts by even numbers, gets by odd ones; all puts land before any get starts.
#include "wait.hpp"

#include <algorithm>
#include <vector>

#include "batch.hpp"
#include "errors.hpp"
#include "get_batch.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

// What one wait is to end. Statuses are where the program wants them; empty when it does not.
struct Ending {
  std::vector<PendingPut*> puts;
  std::vector<int*> put_statuses;
  std::vector<PendingGet*> gets;
  std::vector<int*> get_statuses;
};

// A list as long as the puts that are pending.
void end_as_many_puts(OpenFile& file, int count, int* requests, int* statuses, Ending& ending) {
  ending.puts = file.puts.all();
  for (int i = 0; i < count; ++i) {
    requests[i] = NC_REQ_NULL;
    if (statuses == nullptr) continue;
    statuses[i] = NC_NOERR;
    ending.put_statuses.push_back(statuses + i);
  }
}

// A list as long as the gets that are pending. Their statuses may differ, so they go by number, unless the
// numbers are others.
void end_as_many_gets(OpenFile& file, int count, int* requests, int* statuses, Ending& ending) {
  for (int i = 0; i < count; ++i) {
    PendingGet* get = requests[i] % 2 != 0 ? file.gets.find(requests[i]) : nullptr;
    if (get == nullptr || get->taken) break;
    get->taken = true;
    ending.gets.push_back(get);
  }
  for (PendingGet* get : ending.gets) get->taken = false;
  if (ending.gets.size() != file.gets.size()) ending.gets = file.gets.all();
  for (int i = 0; i < count; ++i) {
    requests[i] = NC_REQ_NULL;
    if (statuses == nullptr) continue;
    statuses[i] = NC_NOERR;
    ending.get_statuses.push_back(statuses + i);
  }
}

template <class Entry>
bool take(Pending<Entry>& pending, int number, int* status, std::vector<Entry*>& entries,
          std::vector<int*>& statuses) {
  Entry* entry = pending.find(number);
  if (entry == nullptr || entry->taken) return false;
  entry->taken = true;
  entries.push_back(entry);
  if (status != nullptr) statuses.push_back(status);
  return true;
}

// The list names some requests. Nothing is ended when it names one that does not exist, or one twice.
int end_listed(OpenFile& file, int count, int* requests, int* statuses, Ending& ending) {
  int err = NC_NOERR;
  for (int i = 0; i < count; ++i) {
    int* const status = statuses == nullptr ? nullptr : statuses + i;
    if (status != nullptr) *status = NC_NOERR;
    if (requests[i] == NC_REQ_NULL) continue;
    if (requests[i] % 2 == 0 ? take(file.puts, requests[i], status, ending.puts, ending.put_statuses)
                             : take(file.gets, requests[i], status, ending.gets, ending.get_statuses))
      continue;
    if (status != nullptr) *status = NC_EINVAL_REQUEST;
    err = NC_EINVAL_REQUEST;
  }
  for (PendingPut* put : ending.puts) put->taken = false;
  for (PendingGet* get : ending.gets) get->taken = false;
  if (err != NC_NOERR) {
    ending = {};
    return err;
  }
  std::fill_n(requests, count, NC_REQ_NULL);
  // The order of posting decides where puts overlap, not that of the list.
  const auto earlier = [](auto* a, auto* b) { return a->id < b->id; };
  if (!std::is_sorted(ending.puts.begin(), ending.puts.end(), earlier))
    std::sort(ending.puts.begin(), ending.puts.end(), earlier);
  return NC_NOERR;
}

// The same shortcuts as in PnetCDF, since they show: a list as long as what is pending is not looked at.
int choose(OpenFile& file, int count, int* requests, int* statuses, Ending& ending) {
  if (count == NC_REQ_ALL || count == NC_PUT_REQ_ALL) ending.puts = file.puts.all();
  if (count == NC_REQ_ALL || count == NC_GET_REQ_ALL) ending.gets = file.gets.all();
  if (count <= 0) return NC_NOERR;

  const int puts = static_cast<int>(file.puts.size());
  const int gets = static_cast<int>(file.gets.size());
  if (gets == 0 && count == puts) {
    end_as_many_puts(file, count, requests, statuses, ending);
  } else if (puts == 0 && count == gets) {
    end_as_many_gets(file, count, requests, statuses, ending);
  } else if (count == puts + gets && statuses == nullptr) {
    ending.puts = file.puts.all();
    ending.gets = file.gets.all();
    std::fill_n(requests, count, NC_REQ_NULL);
  } else {
    return end_listed(file, count, requests, statuses, ending);
  }
  return NC_NOERR;
}

void give_back_buffer(OpenFile& file, const PendingPut& put) {
  if (put.slot >= 0 && file.attached) file.attached->give_back(put.slot);
}

void drop(OpenFile& file, const Ending& ending) {
  for (PendingPut* put : ending.puts) {
    give_back_buffer(file, *put);
    file.puts.drop(*put);
  }
  file.puts.tidy();
  if (!ending.puts.empty() && file.attached) file.attached->reclaim();
  for (PendingGet* get : ending.gets) file.gets.drop(*get);
  file.gets.tidy();
}

// Writes the puts. Collective ones agree on whether any rank has gets.
int end_puts(OpenFile& file, Ending& ending, int problem, bool alone, bool& any_gets) {
  Batch batch(file);
  if (problem == NC_NOERR) {
    problem = guarded([&] {
      for (const PendingPut* put : ending.puts) {
        if (int err = batch.add(*put->variable, put->selection, put->data, put->swap)) return err;
      }
      return NC_NOERR;
    });
  }
  int status = problem;
  if (!alone) {
    status = write_collective(file, batch, problem, any_gets);
  } else if (problem == NC_NOERR && !batch.puts().empty()) {
    status = write_independent(file, batch);
  }
  if (status != NC_NOERR) {
    for (int* put_status : ending.put_statuses) *put_status = status;
  }
  return status;
}

int end_gets(OpenFile& file, Ending& ending, bool alone) {
  GetBatch batch(file);
  int status = guarded([&] {
    for (const PendingGet* get : ending.gets) {
      if (int err = batch.add(get->request, get->buffer)) return err;
    }
    return NC_NOERR;
  });
  if (!alone) {
    status = read_collective(file, batch, status);
  } else if (status == NC_NOERR && batch.requests() > 0) {
    status = read_independent(file, batch);
  }
  if (status != NC_NOERR) {
    for (int* get_status : ending.get_statuses) *get_status = status;
    return status;
  }
  for (std::size_t i = 0; i < batch.requests(); ++i) {
    const int err = batch.finish(i);
    if (err == NC_NOERR) continue;
    if (!ending.get_statuses.empty()) *ending.get_statuses[i] = err;
    if (status == NC_NOERR) status = err;
  }
  return status;
}

int wait_checked(OpenFile& file, int count, int* requests, int* statuses, int how) {
  const bool alone = (how & mode::independent) != 0;
  if (file.in_define) return NC_EINDEFINE;
  if (alone && !file.independent) return NC_ENOTINDEP;
  if (!alone && file.independent) return NC_EINDEP;
  if (alone && count == 0) return NC_NOERR;

  Ending ending;
  int status = guarded([&] { return choose(file, count, requests, statuses, ending); });
  // Only gets, on every rank: ncmpi_mget_*.
  const bool only_gets = (how & mode::read) != 0;
  if (only_gets) ending.puts.clear();
  bool any_gets = only_gets || !ending.gets.empty();
  if (!only_gets) status = end_puts(file, ending, status, alone, any_gets);
  if (any_gets) {
    const int err = guarded([&] { return end_gets(file, ending, alone); });
    if (status == NC_NOERR) status = err;
  }
  drop(file, ending);
  return status;
}

int cancel_one(OpenFile& file, int& request) {
  if (request == NC_REQ_NULL) return NC_NOERR;
  if (request % 2 != 0) {
    PendingGet* get = file.gets.find(request);
    if (get == nullptr) return NC_EINVAL_REQUEST;
    file.gets.drop(*get);
  } else {
    PendingPut* put = file.puts.find(request);
    if (put == nullptr) return NC_EINVAL_REQUEST;
    give_back_buffer(file, *put);
    file.puts.drop(*put);
  }
  request = NC_REQ_NULL;
  return NC_NOERR;
}

int cancel_checked(OpenFile& file, int count, int* requests, int* statuses) {
  if (count == 0) return NC_NOERR;
  if (count < NC_PUT_REQ_ALL) return NC_EINVAL;
  if (count == NC_GET_REQ_ALL || count == NC_REQ_ALL) file.gets.clear();
  if (count == NC_PUT_REQ_ALL || count == NC_REQ_ALL) {
    file.puts.clear();
    if (file.attached) file.attached->clear();
  }
  int status = NC_NOERR;
  for (int i = 0; i < count; ++i) {
    const int one = cancel_one(file, requests[i]);
    if (statuses != nullptr) statuses[i] = one;
    if (status == NC_NOERR) status = one;
  }
  if (count > 0) {
    file.puts.tidy();
    file.gets.tidy();
  }
  if (file.attached) file.attached->reclaim();
  return status;
}

}  // namespace

int wait(void* object, int count, int* requests, int* statuses, int how) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) return file.stock.wait(file.stock_file, count, requests, statuses, how);
  return guarded([&] { return wait_checked(file, count, requests, statuses, how); });
}

int cancel(void* object, int count, int* requests, int* statuses) {
  OpenFile& file = OpenFile::of(object);
  if (!file.active()) return file.stock.cancel(file.stock_file, count, requests, statuses);
  return guarded([&] { return cancel_checked(file, count, requests, statuses); });
}

}  // namespace forebay::pnc
