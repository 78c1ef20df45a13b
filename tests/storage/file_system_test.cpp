// What the table says of a file system, and how one is found in it.
#include "storage/file_system.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace forebay {
namespace {

constexpr std::uint32_t kFuse = 0x65735546;

TEST(FileSystem, IsKnownByItsMagicNumber) {
  struct Case {
    std::uint32_t magic;
    const char* name;
    bool coherent, local;
  };
  for (const Case& c : {Case{0xEF53, "ext", true, true}, Case{0x2FC12FC1, "zfs", true, true},
                        Case{0x794C7630, "overlay", true, true}, Case{0x0BD00BD0, "lustre", true, false},
                        Case{0x47504653, "gpfs", true, false}, Case{0x00C36400, "ceph", true, false},
                        Case{0x19830326, "beegfs", false, false}, Case{0x6969, "nfs", false, false},
                        Case{0x01021997, "9p", false, false}, Case{0x12345678, "unknown", false, false}}) {
    const FileSystem system = known_file_system(c.magic, {});
    EXPECT_EQ(system.name, c.name);
    EXPECT_EQ(system.coherent, c.coherent) << c.name;
    EXPECT_EQ(system.local, c.local) << c.name;
    EXPECT_EQ(system.magic, c.magic);
    EXPECT_FALSE(system.memory) << c.name;
    EXPECT_EQ(system.unit == Unit::layout, c.name == std::string("lustre"));
    const std::string name = c.name;
    EXPECT_EQ(needs_mount(c.magic), name == "unknown" || name == "lustre" || name == "nfs");
  }
  for (const std::uint32_t magic : {0x01021994U, 0x858458F6U})
    EXPECT_TRUE(known_file_system(magic, {}).memory);
}

TEST(FileSystem, FuseIsKnownByItsMount) {
  EXPECT_TRUE(needs_mount(kFuse));
  const auto name = [](const char* type, const char* source) {
    const FileSystem system = known_file_system(kFuse, {type, source, ""});
    EXPECT_FALSE(system.coherent) << type;
    EXPECT_FALSE(system.local) << type;
    EXPECT_EQ(system.magic, kFuse);
    return system.name;
  };
  EXPECT_EQ(name("fuse.glusterfs", "host:/volume"), "glusterfs");
  EXPECT_EQ(name("fuse.mfs", "master:9421"), "moosefs");
  EXPECT_EQ(name("fuse", "mfs#master:9421"), "moosefs");
  EXPECT_EQ(name("fuse", "other"), "fuse");
  EXPECT_EQ(name("fuse.neverheardof", "x"), "fuse");
  EXPECT_EQ(name("virtiofs", "tag"), "virtiofs");
  EXPECT_EQ(name("", ""), "fuse");
  EXPECT_EQ(known_file_system(kFuse, {"fuse.neverheardof", "x", ""}).type, "fuse.neverheardof");
  // The type of a mount says nothing where the number does.
  EXPECT_EQ(known_file_system(0xEF53, {"fuse.glusterfs", "", ""}).name, "ext");
}

constexpr const char* kMounts =
    "22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw,errors=remount-ro\n"
    "cut off\n"
    "31 28 0:52\n"
    "32 28 0:52 / no dash\n"
    "33 28 0:52 /a\\040b /mnt/x\\040y rw shared:3 master:4 - fuse.glusterfs host:/volume rw,user_id=0\n"
    "34 28 0:521 / /mnt/z rw - fuse mfs#host:9421 rw";

TEST(FileSystem, LocksReachAsFarAsTheMountSays) {
  const auto locks = [](std::uint32_t magic, const char* options) {
    return known_file_system(magic, {"", "", options}).locks;
  };
  constexpr std::uint32_t lustre = 0x0BD00BD0, nfs = 0x6969;
  EXPECT_EQ(locks(lustre, "rw,checksum,flock,nouser_xattr"), Locks::everywhere);
  EXPECT_EQ(locks(lustre, "rw,localflock"), Locks::this_machine);
  EXPECT_EQ(locks(lustre, "noflock"), Locks::this_machine);
  EXPECT_EQ(locks(lustre, "rw"), Locks::not_known);
  EXPECT_EQ(locks(lustre, ""), Locks::not_known);
  EXPECT_EQ(locks(nfs, "rw,vers=4.2,local_lock=none,addr=1"), Locks::everywhere);
  EXPECT_EQ(locks(nfs, "rw,nolock,vers=3"), Locks::this_machine);
  EXPECT_EQ(locks(nfs, "rw,local_lock=flock"), Locks::everywhere) << "that is another kind of lock";
  EXPECT_EQ(locks(nfs, "rw,local_lock=all"), Locks::this_machine);
  EXPECT_EQ(locks(nfs, ""), Locks::not_known);
  EXPECT_EQ(locks(0xEF53, "nolock"), Locks::everywhere);
}

TEST(FileSystem, IsFoundAmongTheMounts) {
  Mount mount;
  ASSERT_TRUE(find_mount(kMounts, 0, 52, mount));
  EXPECT_EQ(mount.type, "fuse.glusterfs");
  EXPECT_EQ(mount.source, "host:/volume");
  EXPECT_EQ(mount.options, "rw,user_id=0,rw");
  ASSERT_TRUE(find_mount(kMounts, 8, 2, mount));
  EXPECT_EQ(mount.type, "ext4");
  ASSERT_TRUE(find_mount(kMounts, 0, 521, mount)) << "the last line has no end";
  EXPECT_EQ(mount.source, "mfs#host:9421");
  EXPECT_FALSE(find_mount(kMounts, 0, 5, mount));
  EXPECT_FALSE(find_mount(kMounts, 52, 0, mount));
  EXPECT_FALSE(find_mount("", 0, 52, mount));
}

TEST(FileSystem, AnyMountsAreRead) {
  std::mt19937 rng(7);
  std::uniform_int_distribution<std::size_t> place(0, std::string(kMounts).size() - 1);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string mounts = kMounts;
    for (int i = 0; i < 8; ++i) mounts[place(rng)] = " :-\n0"[place(rng) % 5];
    mounts.resize(place(rng));
    Mount mount;
    if (!find_mount(mounts, 0, 52, mount)) continue;
    EXPECT_LT(mount.type.size() + mount.source.size(), mounts.size());
  }
}

TEST(FileSystem, OfThisMachine) {
  const FileSystem shared = file_system_at("/dev/shm");
  EXPECT_EQ(shared.name, "tmpfs");
  EXPECT_TRUE(shared.local && shared.memory && shared.coherent);
  EXPECT_EQ(shared.locks, Locks::everywhere);
  const FileSystem none = file_system_at("/no such folder");
  EXPECT_EQ(none.name, "No such file or directory");
  EXPECT_FALSE(none.local || none.coherent);
  EXPECT_EQ(file_system_of(-1).name, "Bad file descriptor");
}

TEST(PreferredUnit, IsAtLeastHalfAMebibyte) {
  constexpr std::int64_t kilo = 1024;
  for (const std::int64_t small : {0L, 512L, 4096L, 32 * kilo, 65537L, 65536 + 512L})
    EXPECT_EQ(unit_from_block(small), 0);
  EXPECT_EQ(unit_from_block(64 * kilo), 512 * kilo);
  EXPECT_EQ(unit_from_block(128 * kilo), 512 * kilo);
  EXPECT_EQ(unit_from_block(192 * kilo), 576 * kilo);
  EXPECT_EQ(unit_from_block(512 * kilo), 512 * kilo);
  EXPECT_EQ(unit_from_block(1024 * kilo), 1024 * kilo);
  EXPECT_EQ(unit_from_block(16 << 20), 16 << 20);
  EXPECT_EQ(unit_from_block(32 << 20), 0);
  EXPECT_EQ(preferred_unit(-1), 0);
}

}  // namespace
}  // namespace forebay
