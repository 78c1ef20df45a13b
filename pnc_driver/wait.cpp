// wait, wait_all and cancel: our puts by even numbers, the gets of PnetCDF's own driver by odd ones.
#include "wait.hpp"

#include <algorithm>
#include <vector>

#include "batch.hpp"
#include "drain.hpp"
#include "errors.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

int stock_requests(const OpenFile& file, int& gets) {
  return file.stock.inq_misc(file.stock_file, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr, nullptr, nullptr, nullptr, nullptr, &gets, nullptr, nullptr);
}

// What one wait is to end.
struct Ending {
  std::vector<PendingPut*> puts;
  std::vector<int*> put_statuses;  // where the program wants them; empty when it does not
  // for PnetCDF's own driver
  int get_count = 0;  // or NC_GET_REQ_ALL
  int* get_requests = nullptr;
  int* get_statuses = nullptr;
  std::vector<int> odd;  // numbers and statuses of gets picked out of a mixed list, and their places in it
  std::vector<int> odd_statuses;
  std::vector<int> odd_places;

  bool has_gets() const { return get_count != 0; }
};

void end_all_puts(OpenFile& file, Ending& ending) {
  ending.puts = file.pending.all();
}

void end_all_gets(Ending& ending) {
  ending.get_count = NC_GET_REQ_ALL;
}

// The list names some requests. Nothing is ended when it names one that does not exist, or one twice.
int end_listed(OpenFile& file, int count, int* requests, int* statuses, Ending& ending) {
  int err = NC_NOERR;
  for (int i = 0; i < count; ++i) {
    if (statuses != nullptr) statuses[i] = NC_NOERR;
    if (requests[i] == NC_REQ_NULL) continue;
    if (requests[i] % 2 != 0) {
      ending.odd.push_back(requests[i]);
      ending.odd_places.push_back(i);
      continue;
    }
    PendingPut* put = file.pending.find(requests[i]);
    if (put == nullptr || put->taken) {
      if (statuses != nullptr) statuses[i] = NC_EINVAL_REQUEST;
      err = NC_EINVAL_REQUEST;
      continue;
    }
    put->taken = true;
    ending.puts.push_back(put);
    if (statuses != nullptr) ending.put_statuses.push_back(statuses + i);
  }
  if (err != NC_NOERR) {
    for (PendingPut* put : ending.puts) put->taken = false;
    ending = {};
    return err;
  }
  for (int i = 0; i < count; ++i) {
    if (requests[i] % 2 == 0) requests[i] = NC_REQ_NULL;
  }
  // The order of posting decides where puts overlap, not that of the list.
  if (!std::is_sorted(ending.puts.begin(), ending.puts.end(),
                      [](auto* a, auto* b) { return a->id < b->id; })) {
    std::sort(ending.puts.begin(), ending.puts.end(), [](auto* a, auto* b) { return a->id < b->id; });
  }
  // PnetCDF's own driver does not look at a list as long as what is pending there. Here the program's list
  // was another one, in which it would have found a number that does not exist: one more that is none makes
  // it look.
  if (!ending.odd.empty()) ending.odd.push_back(NC_REQ_NULL);
  ending.get_count = static_cast<int>(ending.odd.size());
  ending.odd_statuses.resize(ending.odd.size(), NC_NOERR);
  ending.get_requests = ending.odd.data();
  ending.get_statuses = statuses == nullptr ? nullptr : ending.odd_statuses.data();
  return NC_NOERR;
}

// The same shortcuts as in PnetCDF, since they show: a list as long as what is pending is not looked at.
int choose(OpenFile& file, int count, int* requests, int* statuses, Ending& ending) {
  if (count == NC_REQ_ALL || count == NC_PUT_REQ_ALL) end_all_puts(file, ending);
  if (count == NC_REQ_ALL || count == NC_GET_REQ_ALL) end_all_gets(ending);
  if (count <= 0) return NC_NOERR;

  int gets = 0;
  if (int err = stock_requests(file, gets)) return err;
  const int puts = static_cast<int>(file.pending.size());
  if (gets == 0 && count == puts) {
    end_all_puts(file, ending);
    for (int i = 0; i < count; ++i) {
      requests[i] = NC_REQ_NULL;
      if (statuses == nullptr) continue;
      statuses[i] = NC_NOERR;
      ending.put_statuses.push_back(statuses + i);
    }
    return NC_NOERR;
  }
  if (puts == 0 && count == gets) {
    ending.get_count = count;
    ending.get_requests = requests;
    ending.get_statuses = statuses;
    return NC_NOERR;
  }
  if (count == puts + gets && statuses == nullptr) {
    end_all_puts(file, ending);
    end_all_gets(ending);
    std::fill_n(requests, count, NC_REQ_NULL);
    return NC_NOERR;
  }
  return end_listed(file, count, requests, statuses, ending);
}

void give_back_buffer(OpenFile& file, const PendingPut& put) {
  if (put.slot >= 0 && file.attached) file.attached->give_back(put.slot);
}

void drop(OpenFile& file, const std::vector<PendingPut*>& puts) {
  for (PendingPut* put : puts) {
    give_back_buffer(file, *put);
    file.pending.drop(*put);
  }
  file.pending.tidy();
  if (!puts.empty() && file.attached) file.attached->reclaim();
}

int end_gets(OpenFile& file, Ending& ending, int* requests, int* statuses, int how) {
  const int err =
      file.stock.wait(file.stock_file, ending.get_count, ending.get_requests, ending.get_statuses, how);
  for (std::size_t i = 0; i < ending.odd_places.size(); ++i) {
    requests[ending.odd_places[i]] = ending.odd[i];
    if (statuses != nullptr) statuses[ending.odd_places[i]] = ending.odd_statuses[i];
  }
  return err;
}

int wait_checked(OpenFile& file, int count, int* requests, int* statuses, int how) {
  const bool alone = (how & mode::independent) != 0;
  if (file.in_define) return NC_EINDEFINE;
  if (alone && !file.independent) return NC_ENOTINDEP;
  if (!alone && file.independent) return NC_EINDEP;
  if (alone && count == 0) return NC_NOERR;
  // Only gets, on every rank: ncmpi_mget_*.
  if ((how & mode::read) != 0) {
    const int drained = drain_for(file, how);
    const int err = file.stock.wait(file.stock_file, count, requests, statuses, how);
    return err != NC_NOERR ? err : drained;
  }

  Ending ending;
  Batch batch(file);
  int problem = guarded([&] { return choose(file, count, requests, statuses, ending); });
  if (problem == NC_NOERR) {
    problem = guarded([&] {
      for (const PendingPut* put : ending.puts) {
        if (int err = batch.add(*put->variable, put->selection, put->data, put->swap)) return err;
      }
      return NC_NOERR;
    });
  }

  bool any_gets = ending.has_gets();
  int status = NC_NOERR;
  if (alone) {
    status = problem != NC_NOERR ? problem : batch.puts().empty() ? NC_NOERR : write_alone(file, batch);
  } else {
    status = write_together(file, batch, problem, any_gets);
  }
  if (status != NC_NOERR) {
    for (int* put_status : ending.put_statuses) *put_status = status;
  }
  drop(file, ending.puts);
  if (any_gets) {
    const int drained = drain_for(file, how);
    if (status == NC_NOERR) status = drained;
    const int err = end_gets(file, ending, requests, statuses, how);
    if (status == NC_NOERR) status = err;
  }
  return status;
}

int cancel_checked(OpenFile& file, int count, int* requests, int* statuses) {
  if (count == 0) return NC_NOERR;
  if (count < NC_PUT_REQ_ALL) return NC_EINVAL;
  int status = NC_NOERR;
  if (count == NC_GET_REQ_ALL || count == NC_REQ_ALL) {
    status = file.stock.cancel(file.stock_file, NC_GET_REQ_ALL, nullptr, nullptr);
  }
  if (count == NC_PUT_REQ_ALL || count == NC_REQ_ALL) {
    file.pending.clear();
    if (file.attached) file.attached->clear();
  }
  for (int i = 0; i < count; ++i) {
    int one = NC_NOERR;
    if (requests[i] == NC_REQ_NULL) {
      // nothing to cancel
    } else if (requests[i] % 2 != 0) {
      one = file.stock.cancel(file.stock_file, 1, requests + i, nullptr);
    } else if (PendingPut* put = file.pending.find(requests[i]); put != nullptr) {
      give_back_buffer(file, *put);
      file.pending.drop(*put);
      requests[i] = NC_REQ_NULL;
    } else {
      one = NC_EINVAL_REQUEST;
    }
    if (statuses != nullptr) statuses[i] = one;
    if (status == NC_NOERR) status = one;
  }
  if (count > 0) file.pending.tidy();
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
