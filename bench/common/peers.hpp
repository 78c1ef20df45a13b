// Who is compared: the stock library in several settings, and Forebay in its modes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

// The reference is run once, for its files.
enum class Kind { Reference, Stock, Forebay };

struct Peer {
  std::string name, title;
  Kind kind = Kind::Stock;
  std::vector<std::string> hints;  // key=value for MPI_Info; ROMIO's in a file, too
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;  // set, or removed
  std::string mode;                                                             // Forebay's
  bool quick = false;                     // among those that --quick runs
  std::vector<std::string> options = {};  // for the program that writes
  std::vector<std::string> rows = {};     // the rows it takes part in; all, where empty
  bool compared = true;                   // its files, that is; else it is a yardstick
  std::string run_hints = {};  // for `forebay run`, k=v;k=v: one that it does not know ends the run
  // What the settings in Forebay's report have to be, as forebay_mode=commit: else it did something else.
  std::vector<std::string> reported = {};

  bool takes_part(const std::string& row) const;
};

// The stock library, whatever the environment says; over Open MPI's component `io` where that is not empty.
Peer stock_peer(const std::string& name, const std::string& title, const std::string& io,
                std::vector<std::string> hints, bool quick, Kind kind = Kind::Stock);

// Of that mode; of the one that hints ask for, where it is empty. Over `io` as above.
Peer forebay_peer(const std::string& name, const std::string& mode, const std::string& io = "");

}  // namespace forebay::bench
