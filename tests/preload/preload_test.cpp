// The shim in programs that use stand-ins for HDF5 and PnetCDF: who gets a call, what it is told, and what is
// said when the stock driver has to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "program_check.hpp"
#include "subprocess.hpp"

namespace forebay::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Trial {
  std::string output;
  std::string errors;
};

/// A program under the shim, with the drivers of a folder and further variables.
Trial run_fake(const std::vector<std::string>& command, const std::string& drivers = "drivers",
               std::map<std::string, std::string> more = {}) {
  auto environment = current_environment();
  environment["LD_PRELOAD"] = SHIM;
  environment["FOREBAY_LIBDIR"] = std::string(FAKES) + "/nowhere:" FAKES "/" + drivers;
  // Those of the libraries that the driver was not built for must be found, or the loader's complaint would
  // hide the shim's.
  environment["LD_LIBRARY_PATH"] = FAKES "/libs";
  for (auto& [name, value] : more) environment[name] = value;
  const Outcome outcome = run_program(command, environment, std::chrono::seconds(20));
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  return {outcome.output, outcome.errors};
}

TEST(Hdf5Shim, TheDriverGetsTheCallsOfAProgramThatSelectsMpio) {
  const Trial t = run_fake({LINKED, "h5set", "h5get", "h5driver", "h5create"});
  EXPECT_EQ(t.output,
            "driver: attach\n"
            "driver: set 34 1122334455667788 99aabbccddeeff00\n"
            "hdf5: set 35 1122334455667788 99aabbccddeeff00\n"
            "h5set gave 3\n"
            "driver: get 35\n"
            "hdf5: get 36\n"
            "h5get gave 4\n"
            "hdf5: get_driver 33\n"
            "driver: get_driver 33\n"
            "h5driver gave 107\n"
            "hdf5: create f.h5 2 31 32\n"
            "h5create gave 12345678901\n");
  EXPECT_EQ(t.errors, "");
}

TEST(Hdf5Shim, TheDriverHearsOfAtomicity) {
  const Trial t = run_fake({LINKED, "h5set", "h5atomic", "h5isatomic", "h5isnot"});
  EXPECT_THAT(t.output, HasSubstr("driver: before atomicity 35\n"
                                  "hdf5: set atomicity 35 1\n"
                                  "h5atomic gave 5\n"
                                  "driver: is not atomic 35\n"
                                  "hdf5: get atomicity 35\n"
                                  "h5isatomic gave 61\n"
                                  "driver: is not atomic 36\n"
                                  "h5isnot gave 0\n"));
  const Trial other = run_fake({LINKED, "h5atomic", "h5isatomic"});
  EXPECT_EQ(other.output,
            "hdf5: set atomicity 35 1\nh5atomic gave 5\nhdf5: get atomicity 35\nh5isatomic gave 61\n");
}

TEST(Hdf5Shim, NothingIsAttachedForAProgramThatNeverSelectsMpio) {
  const Trial t = run_fake({LINKED, "h5get", "h5driver", "h5create"});
  EXPECT_THAT(t.output, Not(HasSubstr("driver: ")));
  EXPECT_THAT(t.output, HasSubstr("h5driver gave 7\n"));
  EXPECT_EQ(t.errors, "");
}

TEST(Hdf5Shim, AttachesOnce) {
  const Trial t = run_fake({LINKED, "h5set", "h5set"});
  EXPECT_EQ(t.output.find("driver: attach"), t.output.rfind("driver: attach"));
}

TEST(Hdf5Shim, FindsALibraryThatAnInterpreterLoadedForItself) {
  const Trial t = run_fake({LOADING, MODULE_FIRST, "h5set", "h5driver"});
  EXPECT_THAT(t.output, HasSubstr("driver: set 34"));
  EXPECT_THAT(t.output, HasSubstr("hdf5: set 35"));
  EXPECT_THAT(t.output, HasSubstr("h5driver gave 107"));
  EXPECT_EQ(t.errors, "");
}

TEST(Hdf5Shim, TwoLibrariesInOneProcessKeepTheirOwn) {
  // Both modules are loaded before the first call.
  const Trial t =
      run_fake({LOADING, MODULE_FIRST, "--", MODULE_SECOND, "h5set", "--", MODULE_FIRST, "h5set"});
  EXPECT_EQ(t.output,
            "second hdf5: set 34 1122334455667788 99aabbccddeeff00\nh5set gave 3\n"
            "hdf5: set 34 1122334455667788 99aabbccddeeff00\nh5set gave 3\n");
  EXPECT_THAT(t.errors, testing::MatchesRegex(
                            "forebay: HDF5 runs on its stock driver: this program has two HDF5 libraries, "
                            "[^\n]*libhdf5.so.999 and [^\n]*libhdf5_second.so.999\n"));
}

TEST(Hdf5Shim, ASecondLibraryThatComesLaterKeepsItsOwn) {
  const Trial t = run_fake({LOADING, MODULE_FIRST, "h5set", "--", MODULE_SECOND, "h5set", "h5driver", "--",
                            MODULE_FIRST, "h5set"});
  EXPECT_EQ(t.output,
            "driver: attach\n"
            "driver: set 34 1122334455667788 99aabbccddeeff00\nhdf5: set 35 1122334455667788 "
            "99aabbccddeeff00\nh5set gave 3\n"
            "second hdf5: set 34 1122334455667788 99aabbccddeeff00\nh5set gave 3\n"
            "second hdf5: get_driver 33\nh5driver gave 7\n"
            "driver: set 34 1122334455667788 99aabbccddeeff00\nhdf5: set 35 1122334455667788 "
            "99aabbccddeeff00\nh5set gave 3\n");
  EXPECT_THAT(t.errors,
              testing::MatchesRegex("forebay: HDF5 runs on its stock driver: another HDF5 library[^\n]*\n"));
}

TEST(Hdf5Shim, ASerialLibraryIsNamed) {
  const Trial t = run_fake({LINKED_SERIAL, "h5create", "h5create", "h5driver"});
  EXPECT_THAT(t.output, HasSubstr("serial hdf5: create f.h5 2 31 32\nh5create gave 12345678901\n"));
  EXPECT_THAT(t.errors, testing::MatchesRegex(
                            "forebay: HDF5 runs on its stock driver: [^\n]*libhdf5_serial.so.999 is built "
                            "without MPI\n"));
}

TEST(Hdf5Shim, AProgramThatOnlyReadsWithASerialLibraryHearsNothing) {
  EXPECT_EQ(run_fake({LINKED_SERIAL, "h5driver"}).errors, "");
}

TEST(Hdf5Shim, ADriverForAnotherMpiIsNotLoaded) {
  const Trial t = run_fake({LINKED, "h5set", "h5set", "h5get"}, "other_mpi");
  EXPECT_THAT(t.output, Not(HasSubstr("driver: ")));
  EXPECT_THAT(t.output, HasSubstr("hdf5: set 34"));
  EXPECT_EQ(t.errors, "forebay: HDF5 runs on its stock driver: " FAKES
                      "/other_mpi/libforebay_hdf5.so was built for "
                      "libmpich.so.777, but this program's MPI is libmpi.so.999\n");
}

TEST(Hdf5Shim, ADriverForAnotherHdf5IsNotLoaded) {
  const Trial t = run_fake({LINKED, "h5set"}, "other_hdf5");
  EXPECT_THAT(t.output, Not(HasSubstr("driver: ")));
  EXPECT_EQ(t.errors, "forebay: HDF5 runs on its stock driver: " FAKES
                      "/other_hdf5/libforebay_hdf5.so was built for "
                      "libhdf5_second.so.999, but this program's HDF5 is libhdf5.so.999\n");
}

TEST(Hdf5Shim, ADriverThatRefusesIsNotCalledAgain) {
  const Trial t = run_fake({LINKED, "h5set", "h5get", "h5driver"}, "refusing");
  EXPECT_THAT(t.output, Not(HasSubstr("driver: set")));
  EXPECT_THAT(t.output, Not(HasSubstr("driver: get")));
  EXPECT_EQ(t.errors, "forebay: HDF5 runs on its stock driver: the fake driver does not like it\n");
}

TEST(Hdf5Shim, AMissingDriverIsSaid) {
  const Trial t = run_fake({LINKED, "h5set"}, "nothing");
  EXPECT_THAT(t.output, HasSubstr("hdf5: set 34"));
  EXPECT_THAT(t.errors,
              testing::MatchesRegex(
                  "forebay: HDF5 runs on its stock driver: there is no libforebay_hdf5.so in [^\n]*\n"));
}

TEST(Shim, DriversComeFromWholePathsThatOthersMayNotChange) {
  namespace fs = std::filesystem;
  Trial t = run_fake({LINKED, "h5set"}, "drivers", {{"FOREBAY_LIBDIR", "drivers:./drivers:"}});
  EXPECT_THAT(t.output, Not(HasSubstr("driver: ")));
  EXPECT_THAT(t.errors, HasSubstr("which is not a whole path\n"));
  const std::string open = FAKES "/open";
  fs::create_directories(open);
  fs::permissions(open, fs::perms::all);
  fs::copy_file(FAKES "/drivers/libforebay_hdf5.so", open + "/libforebay_hdf5.so",
                fs::copy_options::overwrite_existing);
  t = run_fake({LINKED, "h5set"}, "drivers", {{"FOREBAY_LIBDIR", open}});
  EXPECT_THAT(t.output, Not(HasSubstr("driver: ")));
  EXPECT_EQ(t.errors, "forebay: HDF5 runs on its stock driver: " + open +
                          "/libforebay_hdf5.so is not loaded, since others may change " + open + "\n");
  fs::remove_all(open);
}

TEST(PnetcdfShim, TheDriverAnswersForEveryFile) {
  const Trial t = run_fake({LINKED, "nccreate", "ncopen", "ncwrite"});
  EXPECT_EQ(t.output,
            "driver: attach to pnetcdf of version 1.14.0 of today\n"
            "pnetcdf: create f.nc 0 1122334455667788 99aabbccddeeff00 with Forebay\n"
            "nccreate gave 0\n"
            "pnetcdf: open f.nc 0 1122334455667788 99aabbccddeeff00 with Forebay\n"
            "ncopen gave 0\n"
            "pnetcdf: open f.nc 1 1122334455667788 99aabbccddeeff00 with Forebay\n"
            "ncwrite gave 0\n");
  EXPECT_EQ(t.errors, "");
}

TEST(PnetcdfShim, FindsALibraryThatAnInterpreterLoadedForItself) {
  const Trial t = run_fake({LOADING, MODULE_FIRST, "nccreate"});
  EXPECT_THAT(t.output, HasSubstr("create f.nc 0 1122334455667788 99aabbccddeeff00 with Forebay\n"));
  EXPECT_EQ(t.errors, "");
}

TEST(PnetcdfShim, ADriverForAnotherMpiIsNotLoaded) {
  const Trial t = run_fake({LINKED, "nccreate", "nccreate"}, "other_mpi");
  EXPECT_THAT(t.output, HasSubstr("with pnetcdf\n"));
  EXPECT_EQ(t.errors, "forebay: PnetCDF runs on its stock driver: " FAKES
                      "/other_mpi/libforebay_pnetcdf.so was built for "
                      "libmpich.so.777, but this program's MPI is libmpi.so.999\n");
}

TEST(PnetcdfShim, AVersionThatAsksNobodyIsNamed) {
  const Trial t = run_fake({LINKED_NEW, "nccreate", "nccreate"});
  EXPECT_THAT(t.output,
              HasSubstr("new pnetcdf: create f.nc 0 1122334455667788 99aabbccddeeff00 with new pnetcdf\n"));
  EXPECT_THAT(t.errors, testing::MatchesRegex(
                            "forebay: PnetCDF runs on its stock driver: this version \\(1.15.0 of today\\) "
                            "[^\n]*\n"));
}

TEST(PnetcdfShim, ReadingWithAVersionThatAsksNobodyIsNobodysBusiness) {
  EXPECT_EQ(run_fake({LINKED_NEW, "ncopen"}).errors, "");
}

TEST(Shim, LibrariesInsideAnExecutableCannotBeReachedAndThatIsSeenBefore) {
  const Trial t = run_fake({LINKED_STATIC, "h5set", "nccreate"});
  EXPECT_EQ(t.output,
            "static hdf5: set 34 1122334455667788 99aabbccddeeff00\nh5set gave 3\n"
            "static pnetcdf: create f.nc 0 1122334455667788 99aabbccddeeff00 with static pnetcdf\nnccreate "
            "gave 0\n");
  EXPECT_THAT(unreachable_parts(LINKED_STATIC),
              testing::ElementsAre(
                  "HDF5 runs on its stock driver: it is linked statically into " LINKED_STATIC
                  "; link the shared library (h5pcc -shlib)",
                  "PnetCDF runs on its stock driver: it is linked statically into " LINKED_STATIC
                  "; link it with `pkg-config --libs forebay-pnetcdf-static`, or link the shared library "
                  "(libpnetcdf.so)"));
  EXPECT_THAT(unreachable_parts(LINKED), testing::IsEmpty());
}

TEST(Shim, OffMeansOffAndSaysSo) {
  for (const char* off : {"off", "0", "FALSE"}) {
    const Trial t =
        run_fake({LINKED, "h5set", "h5set", "nccreate", "nccreate"}, "drivers", {{"FOREBAY_ENABLE", off}});
    EXPECT_THAT(t.output, Not(HasSubstr("driver: ")));
    EXPECT_EQ(t.errors, std::string("forebay: HDF5 runs on its stock driver: FOREBAY_ENABLE=") + off +
                            "\nforebay: PnetCDF runs on its stock driver: FOREBAY_ENABLE=" + off + "\n");
  }
}

TEST(Shim, OffIsSaidAlsoWhereTheVersionAsksNobody) {
  const Trial t = run_fake({LINKED_NEW, "nccreate"}, "drivers", {{"FOREBAY_ENABLE", "off"}});
  EXPECT_EQ(t.errors, "forebay: PnetCDF runs on its stock driver: FOREBAY_ENABLE=off\n");
}

TEST(Shim, OneRankSpeaks) {
  const std::map<std::string, std::string> other{
      {"OMPI_COMM_WORLD_RANK", "3"}, {"FAKE_COMM_RANK", "3"}, {"FAKE_COMM_SIZE", "4"}};
  EXPECT_EQ(run_fake({LINKED, "h5set", "nccreate"}, "other_mpi", other).errors, "");
  const std::map<std::string, std::string> first{{"OMPI_COMM_WORLD_RANK", "0"}};
  EXPECT_NE(run_fake({LINKED, "h5set"}, "other_mpi", first).errors, "");
}

TEST(Shim, ACommunicatorWithoutTheFirstRankHasItsOwnSpeaker) {
  const std::map<std::string, std::string> first{
      {"OMPI_COMM_WORLD_RANK", "3"}, {"FAKE_COMM_RANK", "0"}, {"FAKE_COMM_SIZE", "4"}};
  EXPECT_THAT(run_fake({LINKED, "h5set"}, "other_mpi", first).errors, HasSubstr("forebay: HDF5"));
  EXPECT_THAT(run_fake({LINKED, "nccreate"}, "other_mpi", first).errors, HasSubstr("forebay: PnetCDF"));
  EXPECT_THAT(run_fake({LINKED_NEW, "nccreate"}, "other_mpi", first).errors, HasSubstr("forebay: PnetCDF"));
}

TEST(Shim, VerboseIsNoReasonForOtherRanksToSpeak) {
  const std::map<std::string, std::string> other{{"OMPI_COMM_WORLD_RANK", "3"},
                                                 {"FAKE_COMM_RANK", "3"},
                                                 {"FAKE_COMM_SIZE", "4"},
                                                 {"FOREBAY_VERBOSE", "1"}};
  EXPECT_EQ(run_fake({LINKED, "h5set", "nccreate"}, "drivers", other).errors, "");
  EXPECT_EQ(run_fake({LINKED, "h5set", "nccreate"}, "other_mpi", other).errors, "");
}

TEST(Shim, TheFirstRankOfEachProgramOfAJobSpeaks) {
  const std::map<std::string, std::string> second{{"OMPI_COMM_WORLD_RANK", "3"},
                                                  {"OMPI_FIRST_RANKS", "0 3 33"},
                                                  {"FAKE_COMM_RANK", "3"},
                                                  {"FAKE_COMM_SIZE", "4"}};
  EXPECT_NE(run_fake({LINKED, "h5set"}, "other_mpi", second).errors, "");
}

TEST(Shim, LooksBesideAndAboveItself) {
  namespace fs = std::filesystem;
  auto environment = current_environment();
  environment.erase("FOREBAY_LIBDIR");
  for (const std::string folder : {FAKES "/drivers", FAKES "/drivers/forebay"}) {
    fs::create_directories(folder);
    const std::string shim = folder + "/libforebay_preload.so";
    fs::copy_file(SHIM, shim, fs::copy_options::overwrite_existing);
    environment["LD_PRELOAD"] = shim;
    const Outcome outcome = run_program({LINKED, "h5set", "nccreate"}, environment, std::chrono::seconds(20));
    EXPECT_THAT(outcome.output, HasSubstr("driver: set")) << folder;
    EXPECT_THAT(outcome.output, HasSubstr("with Forebay")) << folder;
    EXPECT_EQ(outcome.errors, "");
    fs::remove(shim);
  }
  environment["LD_PRELOAD"] = SHIM;
  EXPECT_THAT(run_program({LINKED, "h5set"}, environment, std::chrono::seconds(20)).errors,
              HasSubstr("there is no libforebay_hdf5.so beside"));
}

TEST(Shim, NeedsOnlyTheCLibrary) {
  const Outcome outcome = run_program({"/bin/sh", "-c", "LD_PRELOAD=" SHIM " exec cat /proc/self/maps"},
                                      current_environment(), std::chrono::seconds(20));
  EXPECT_THAT(outcome.output, HasSubstr("libforebay_preload.so"));
  for (const char* other :
       {"libstdc++", "libmpi", "libhdf5", "libpnetcdf", "libforebay_hdf5", "libforebay_pnetcdf"}) {
    EXPECT_THAT(outcome.output, Not(HasSubstr(other)));
  }
}

}  // namespace
}  // namespace forebay::tools
