// The number of records: PnetCDF's own driver keeps it and has no way to be told, so what our puts add is
// kept here, agreed between ranks and written to the header at once, and made known to that driver where it
// counts.
#pragma once

#include <cstdint>

namespace forebay::pnc {

struct OpenFile;

/// What one rank's puts reach: the last record plus one (0: no record variable), and an element in it.
struct Reach {
  std::int64_t records = 0;
  int variable = -1;
  std::int64_t element = 0;

  void extend(const Reach& other) {
    if (other.records > records) *this = other;
  }
};

class RecordCount {
 public:
  /// What collective puts made of the number of records; that of PnetCDF's own driver may be larger.
  std::int64_t agreed() const { return agreed_; }

  /// The value whose maximum over all ranks goes to accept(): the reach and who has it. NC_EINTOVERFLOW if it
  /// cannot be told.
  static int proposal(const OpenFile& file, const Reach& mine, std::int64_t& value);

  /// Collective, after a collective put succeeded: takes the agreed maximum. The first rank writes the
  /// header's count when it grew; where that fails, it is an error on every rank and nothing has grown. While
  /// commit mode keeps the records themselves, the header is left behind, too: see catch_up.
  int accept(OpenFile& file, std::int64_t maximum, const Reach& mine);
  /// Collective: after what was kept has been written.
  int catch_up(OpenFile& file);

  /// After an independent put: raises this rank's count in PnetCDF's own driver, by putting one of the
  /// elements again; while commit mode may keep it, that is left to catch_up_independent.
  int accept_independent(OpenFile& file, const Reach& mine);
  int catch_up_independent(OpenFile& file);
  /// The same on all ranks at once, with the error on every rank.
  int catch_up_independent_on_all(OpenFile& file);
  /// Tells the core where the number of records is, and what this rank has reached: for the end of the
  /// process.
  void tell_at_exit(OpenFile& file) const;
  /// What this rank's independent puts made of the number of records, where the driver does not know yet.
  std::int64_t alone() const { return alone_.records; }

  /// After PnetCDF's own driver may have written the header or its count: the first rank writes ours again if
  /// that is larger. It alone hears of an error here, since some of these calls may return early on some
  /// ranks and nobody may wait for those; the next sync or close does it once more, together.
  int restore(OpenFile& file);
  /// Collective: the same, with the error on every rank.
  int restore_on_all(OpenFile& file);

  /// The first rank writes what is agreed to the header, though others may not have written all that it
  /// counts.
  int write_ahead(OpenFile& file) const;

  /// Collective. Brings PnetCDF's own driver up to the agreed count, by a put of one element that is there
  /// already. An error on every rank if that fails.
  int settle(OpenFile& file);

 private:
  int put_in_header(OpenFile& file, std::int64_t records);

  std::int64_t agreed_ = 0;
  std::int64_t written_ = 0;  // of that, what is in the header
  int holder_ = -1;           // the rank whose reach_ was agreed on
  Reach reach_;
  Reach alone_;
};

/// The count that PnetCDF's own driver holds on this rank; 0 without an unlimited dimension.
int stock_records(const OpenFile& file, std::int64_t& records);

}  // namespace forebay::pnc
