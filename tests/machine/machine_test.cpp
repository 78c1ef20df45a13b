// NUMA domains and network cards: of machines that hwloc has a description of, and of trees of files as Linux
// has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "machine/hwloc.hpp"
#include "machine/machine.hpp"
#include "machine/network_cards.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// ---- hwloc ----

class Described : public testing::Test {
 protected:
  Described(const char* variable, const char* value) : variable_(variable) { ::setenv(variable, value, 1); }
  void SetUp() override {
    if (!ask_hwloc(told_)) GTEST_SKIP() << "this build has no hwloc";
  }
  ~Described() override { ::unsetenv(variable_); }
  HwlocMachine told_;

 private:
  const char* variable_;
};

class Synthetic : public Described {
 protected:
  Synthetic() : Described("HWLOC_SYNTHETIC", "Package:2 NUMANode:4 Core:8 PU:2") {}
};

TEST_F(Synthetic, HasDomainsAndNoCards) {
  EXPECT_FALSE(told_.is_here);
  EXPECT_EQ(told_.cores, 64);
  ASSERT_THAT(told_.domains, SizeIs(8));
  EXPECT_THAT(told_.domains[0].processors, ElementsAre(0xffff));
  EXPECT_THAT(told_.domains[7].processors, ElementsAre(0, 0xffff000000000000));
  EXPECT_THAT(told_.devices, IsEmpty());
}

class TwoPackages : public Described {
 protected:
  TwoPackages() : Described("HWLOC_XMLFILE", DESCRIPTION) {}
};

TEST_F(TwoPackages, CardsHangOnDomains) {
  ASSERT_THAT(told_.domains, SizeIs(8));
  std::vector<std::string> names;
  std::vector<int> domains;
  for (const NetworkDevice& card : cards_among(told_.devices)) {
    names.push_back(card.name);
    domains.push_back(card.numa_node);
  }
  EXPECT_THAT(names, ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"))
      << "IP over a card is no card, and a link that is down carries nothing";
  EXPECT_THAT(domains, ElementsAre(0, 2, 4, 6));
}

TEST_F(TwoPackages, IsWhatThisMachineSeemsToBe) {
  const Machine& machine = this_machine();
  EXPECT_EQ(machine.known_by, "hwloc");
  EXPECT_EQ(machine.cores, 64);
  EXPECT_THAT(machine.domains, SizeIs(8));
  std::vector<int> domains;
  for (const NetworkCard& card : machine.cards) domains.push_back(card.domain);
  EXPECT_THAT(domains, ElementsAre(0, 2, 4, 6));
}

TEST(Machine, RanksAreBoundToADomainOrToNone) {
  Machine machine;
  machine.domains = {{0x0f}, {0xf0, 1}};
  EXPECT_EQ(machine.domain_of({0x01}), 0);
  EXPECT_EQ(machine.domain_of({0x0f, 0, 0}), 0) << "words behind the last bit do not matter";
  EXPECT_EQ(machine.domain_of({0, 1}), 1);
  EXPECT_EQ(machine.domain_of({0x18}), -1) << "of both";
  EXPECT_EQ(machine.domain_of({0, 2}), -1) << "of neither";
  EXPECT_EQ(machine.domain_of({}), -1) << "not known";
  EXPECT_EQ(Machine().domain_of({1}), -1);
}

TEST(Machine, ThisThreadMayRunSomewhere) {
  EXPECT_THAT(processors_of_this_thread(), testing::Not(IsEmpty()));
}

// ---- Linux ----

/// A tree of files like /sys.
class Tree {
 public:
  Tree() {
    std::string name = fs::temp_directory_path() / "forebay-sys-XXXXXX";
    top_ = ::mkdtemp(name.data());
  }
  ~Tree() { fs::remove_all(top_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  std::string path() const { return top_; }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((top_ / file).parent_path());
    std::ofstream(top_ / file) << text << '\n';
  }
  /// Hardware at a PCI address.
  std::string pci(const std::string& bus, int numa_node) {
    write("devices/pci0000:00/" + bus + "/numa_node", std::to_string(numa_node));
    return "devices/pci0000:00/" + bus;
  }
  void ethernet(const std::string& name, const std::string& hardware, const std::string& state,
                const std::string& speed) {
    device("net", name, hardware);
    write("class/net/" + name + "/operstate", state);
    if (!speed.empty()) write("class/net/" + name + "/speed", speed);
  }
  void infiniband(const std::string& name, const std::string& hardware, const std::string& state,
                  const std::string& rate) {
    device("infiniband", name, hardware);
    write("class/infiniband/" + name + "/ports/1/state", state);
    write("class/infiniband/" + name + "/ports/1/rate", rate);
  }

 private:
  void device(const std::string& kind, const std::string& name, const std::string& hardware) {
    const fs::path made = top_ / "class" / kind / name;
    fs::create_directories(made);
    if (!hardware.empty()) fs::create_directory_symlink(top_ / hardware, made / "device");
  }
  fs::path top_;
};

std::vector<std::string> cards_in(const Tree& tree) {
  std::vector<std::string> told;
  for (const NetworkDevice& card : cards_among(network_devices(tree.path())))
    told.push_back(card.name + " on " + std::to_string(card.numa_node));
  return told;
}

TEST(Cards, AreTheFastestThatAreUp) {
  Tree tree;
  for (int card = 0; card < 3; ++card) {
    const std::string n = std::to_string(card);
    const std::string hardware = tree.pci("0000:" + n + "1:00.0", card);
    tree.infiniband("mlx5_" + n, hardware, card == 2 ? "1: DOWN" : "4: ACTIVE", "200 Gb/sec (4X HDR)");
    tree.ethernet("ib" + n, hardware, card == 2 ? "down" : "up", "200000");
  }
  tree.ethernet("eth0", tree.pci("0000:41:00.0", 0), "up", "1000");
  tree.ethernet("lo", "", "unknown", "");
  EXPECT_THAT(cards_in(tree), ElementsAre("mlx5_0 on 0", "mlx5_1 on 1"));
}

TEST(Cards, OfEthernetArePhysical) {
  Tree tree;
  tree.ethernet("lo", "", "unknown", "");
  tree.ethernet("veth1", "", "up", "10000");
  tree.ethernet("br0", "", "up", "100000");
  tree.ethernet("hsn0", tree.pci("0000:21:00.0", 1), "up", "100000");
  tree.ethernet("hsn1", tree.pci("0000:61:00.0", 3), "unknown", "100000");
  tree.ethernet("hsn2", tree.pci("0000:a1:00.0", 5), "down", "-1");
  const std::string part = tree.pci("0000:21:00.1", 1);
  tree.write(part + "/physfn", "");
  tree.ethernet("hsn0v0", part, "up", "100000");
  EXPECT_THAT(cards_in(tree), ElementsAre("hsn0 on 1", "hsn1 on 3"));
}

TEST(Cards, OfVirtualMachinesHangOnPciToo) {
  Tree tree;
  const std::string pci = tree.pci("0000:00:03.0", -1);
  tree.write(pci + "/virtio2/vendor", "0x1af4");
  tree.ethernet("eth0", pci + "/virtio2", "up", "-1");
  EXPECT_THAT(cards_in(tree), ElementsAre("eth0 on -1")) << "of an unknown rate";
}

TEST(Cards, AreNoneWhereThereAreNone) {
  EXPECT_THAT(network_devices("/nowhere"), IsEmpty());
  EXPECT_THAT(cards_among({}), IsEmpty());
}

}  // namespace
}  // namespace forebay
