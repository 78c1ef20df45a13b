// The parts of the benchmark of applications: what of a file is counted as written, its rows and peers.
#include <gtest/gtest.h>

#include <fstream>

#include "application_peers.hpp"
#include "application_rows.hpp"
#include "file_values.hpp"
#include "hdf5_id.hpp"

namespace forebay::bench {
namespace {

// Two integers in a group, of which one is zero but for a byte, and an attribute, which does not count.
TEST(BytesOfValues, AreThoseOfDatasetsInGroups) {
  const std::string path = ::testing::TempDir() + "bench_applications.h5";
  {
    const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
    const Hdf5Id group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Gcreate2");
    const hsize_t length = 2;
    const int values[] = {0x01020304, 1};
    const Hdf5Id space(H5Screate_simple(1, &length, nullptr), "H5Screate_simple");
    const Hdf5Id dataset(
        H5Dcreate2(group, "values", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "H5Dcreate2");
    check_hdf5(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "H5Dwrite");
    const Hdf5Id attribute(H5Acreate2(group, "both", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT),
                           "H5Acreate2");
    check_hdf5(H5Awrite(attribute, H5T_NATIVE_INT, values), "H5Awrite");
  }
  EXPECT_EQ(bytes_of_values(path), 4 + 1);
  std::ofstream(path) << "neither";
  EXPECT_THROW(bytes_of_values(path), std::runtime_error);
}

TEST(ApplicationRows, AreTimedFromCreateInALaunchEach) {
  std::size_t quick = 0;
  for (const RowInfo& row : application_rows()) {
    EXPECT_TRUE(row.alone && row.whole) << row.name;
    quick += row.quick ? 1 : 0;
  }
  EXPECT_LE(quick, 10u);
}

TEST(ApplicationPeers, EveryRowHasStockAndEachModeAmongTheQuick) {
  const std::vector<Peer> peers = application_peers("romio341");
  EXPECT_EQ(peers.front().kind, Kind::Reference);
  for (const RowInfo& row : application_rows()) {
    int stock = 0, strict = 0, commit = 0, automatic = 0;
    for (const Peer& peer : peers) {
      for (const std::string& name : peer.rows) find_row(application_rows(), name);
      if (!peer.quick || !peer.takes_part(std::string(row.name))) continue;
      stock += peer.kind == Kind::Stock;
      strict += peer.mode == "strict";
      commit += peer.mode == "commit";
      automatic += peer.mode == "automatic";
    }
    EXPECT_GT(stock, 1) << row.name;
    EXPECT_EQ(strict, 1) << row.name;
    EXPECT_EQ(commit, 1) << row.name;
    EXPECT_EQ(automatic, 1) << row.name;
  }
}

}  // namespace
}  // namespace forebay::bench
