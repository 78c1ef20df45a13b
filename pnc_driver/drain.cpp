// Flushing the core and telling of its records.
#include "drain.hpp"

#include "errors.hpp"
#include "open_file.hpp"

namespace forebay::pnc {
namespace {

int flush(OpenFile& file, FlushFor why = FlushFor::file) {
  if (int err = report(file.core->flush_for(why), "cannot write what was put before")) return err;
  return file.records.catch_up(file);
}

}  // namespace

int drain_collective(OpenFile& file) {
  if (!file.active() || !file.core->holds()) return NC_NOERR;
  return flush(file);
}

int drain_independent(OpenFile& file) {
  if (!file.active() || !file.core->commits()) return NC_NOERR;
  if (int err = report(file.core->flush_independent(), "cannot write what was put before")) return err;
  return file.records.catch_up_independent(file);
}

int drain_for(OpenFile& file, int how) {
  return (how & mode::collective) != 0 ? drain_collective(file) : drain_independent(file);
}

int drain_in_any_mode(OpenFile& file, FlushFor why) {
  if (!file.active() || !file.core->commits() || file.in_define) return NC_NOERR;
  if (!file.independent) return file.core->holds() ? flush(file, why) : NC_NOERR;
  // Together: what the ranks put by themselves becomes few large writes.
  const int err = flush(file, why);
  const int alone = file.records.catch_up_independent_on_all(file);
  return err != NC_NOERR ? err : alone;
}

}  // namespace forebay::pnc
