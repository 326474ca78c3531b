#include "cachet/train/machine/memory_limit.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

class ControlGroup : public ::testing::Test {
 protected:
  std::optional<int64_t> left(const std::string& most, const std::string& used, const std::string& parts) {
    test::write_bytes(folder_ / "memory.max", most);
    test::write_bytes(folder_ / "memory.current", used);
    test::write_bytes(folder_ / "memory.stat", parts);
    return bytes_left_in_group(folder_.path());
  }

  test::TemporaryDirectory folder_;
};

TEST_F(ControlGroup, CachedFilesTakeNoMemoryFromAProcess) {
  EXPECT_EQ(left("1000\n", "300\n", ""), 700);
  EXPECT_EQ(left("1000\n", "990\n", "anon 200\nfile 780\ninactive_file 500\nactive_file 270\nslab_reclaimable 10\n"),
            790);
  EXPECT_EQ(left("1000\n", "1200\n", "anon 1200\n"), 0);
  EXPECT_EQ(left("1000\n", "10\n", "inactive_file 20\n"), 1000) << "the files are read one after the other";
}

TEST_F(ControlGroup, MayHaveNoLimit) {
  EXPECT_EQ(left("max\n", "300\n", ""), std::nullopt);
  EXPECT_EQ(bytes_left_in_group(folder_ / "none"), std::nullopt);
}

TEST(AvailableBytes, AreSome) { EXPECT_GT(available_bytes().value_or(1), 0); }

/// Files as the system has them, in a folder of the test.
class AvailableMemory : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    test::write_bytes(folder_ / file, text);
  }
  void write_second(const std::string& group, const std::string& most, const std::string& used) {
    write("groups/" + group + "/memory.max", most + "\n");
    write("groups/" + group + "/memory.current", used + "\n");
    write("groups/" + group + "/memory.stat", "anon 1\ninactive_file 30\nactive_file 5\n");
  }
  void write_first(const std::string& group, const std::string& most, const std::string& used) {
    write("groups/memory/" + group + "/memory.limit_in_bytes", most + "\n");
    write("groups/memory/" + group + "/memory.usage_in_bytes", used + "\n");
    write("groups/memory/" + group + "/memory.stat",
          "inactive_file 7000\ntotal_inactive_file 30\ntotal_active_file 5\n");
  }
  std::optional<int64_t> available() const {
    return available_bytes({folder_ / "meminfo", folder_ / "own", folder_ / "groups"});
  }

  test::TemporaryDirectory folder_;
};

TEST_F(AvailableMemory, IsWhatTheMachineHasFree) {
  EXPECT_EQ(available(), std::nullopt);
  write("meminfo", "MemTotal: 900 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\nBuffers: 3 kB\n");
  EXPECT_EQ(available(), 400 * 1024);
}

TEST_F(AvailableMemory, IsWhatTheGroupsOfVersion2Leave) {
  write("meminfo", "MemAvailable: 400 kB\n");
  write("own", "0::/outer/inner\n");
  write_second("outer/inner", "max", "1");
  EXPECT_EQ(available(), 400 * 1024) << "without a limit";
  write_second("outer/inner", "3000", "1000");
  EXPECT_EQ(available(), 2035) << "cached files are given up";
  write_second("outer", "1000", "500");
  EXPECT_EQ(available(), 535) << "the group above has less left";
  write_second("", "600", "900");
  EXPECT_EQ(available(), 0) << "a container's own group is the first one, and is over its limit";
}

TEST_F(AvailableMemory, IsWhatTheGroupsOfVersion1Leave) {
  write("meminfo", "MemAvailable: 400 kB\n");
  write("own", "9:cpu,cpuacct:/elsewhere\n4:memory:/docker/7\n0::/\n");
  write_first("docker/7", "9223372036854771712", "1");
  EXPECT_EQ(available(), 400 * 1024) << "without a limit";
  write_first("docker/7", "3000", "1000");
  EXPECT_EQ(available(), 2035);
  write_first("elsewhere", "10", "1");
  EXPECT_EQ(available(), 2035) << "is the group of another controller";
  write_first("", "500", "100");
  EXPECT_EQ(available(), 435);
}

TEST_F(AvailableMemory, IsWhatTheVariableLeavesIfItIsSet) {
  write("meminfo", "MemAvailable: 400 kB\n");
  const auto with = [&](const char* value) {
    setenv(kMemoryVariable, value, /*overwrite=*/1);
    const auto left = available();
    unsetenv(kMemoryVariable);
    return left;
  };
  constexpr int64_t kMuch = int64_t{64} << 20, kLittle = kMuch / 8;
  EXPECT_NEAR(static_cast<double>(with(std::to_string(resident_bytes() + kMuch).c_str()).value_or(0)), kMuch, kLittle);
  EXPECT_EQ(with("1"), 0);
  EXPECT_EQ(with(""), 400 * 1024);
  EXPECT_GT(with("9000000000000000000"), int64_t{1} << 62) << "more than the machine has free";
  const auto as_bytes = [&](const char* value) {
    return static_cast<double>(with(value).value_or(0)) + static_cast<double>(resident_bytes());
  };
  for (const char* tebibyte : {"1099511627776", "1T", "1TiB", "1 TiB", "1024G", "1024 GiB", "1048576M", "0.5 T"})
    EXPECT_NEAR(as_bytes(tebibyte), std::string(tebibyte).starts_with("0.5") ? 0x1p39 : 0x1p40, kLittle) << tebibyte;
  for (const char* wrong : {"2 GB", "2 iB", "2  GiB", "M", "-1", "-1M", "1e9", "inf", "nan", "99999999999999999999"}) {
    const std::string said = test::thrown_message<std::runtime_error>([&] { with(wrong); });
    unsetenv(kMemoryVariable);
    EXPECT_EQ(said, "CACHET_MEMORY_LIMIT must be a number of bytes or a size such as 300M or 2GiB, but is \"" +
                        std::string(wrong) + "\"");
  }
}

TEST(AllocationLimit, AllowsSoManyBytesMore) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  const auto allocates = [](int64_t bytes) {
    void* volatile memory = std::malloc(static_cast<size_t>(bytes));  // volatile: a compiler may leave out both calls
    const bool allocated = memory != nullptr;
    std::free(memory);
    return allocated;
  };
  {
    const AllocationLimit limit(kBytes);
    EXPECT_TRUE(allocates(kBytes));
    EXPECT_FALSE(allocates(int64_t{1} << 30));
  }
  EXPECT_TRUE(allocates(int64_t{1} << 30)) << "the limit is gone";
}

TEST(ResidentPeak, SeesWhatWasFreed) {
  constexpr int64_t kBytes = int64_t{64} << 20, kLittle = int64_t{4} << 20;
  const int64_t before = resident_bytes();
  const ResidentPeak peak;
  // Pages of the system, not of an allocator: a sanitizer's allocator keeps what is freed.
  void* const much = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(much, MAP_FAILED);
  ASSERT_EQ(munmap(much, kBytes), 0);
  const int64_t most = peak.bytes().value_or(0);
  EXPECT_GT(most - before, kBytes - kLittle);
  const ResidentPeak later;
  EXPECT_LT(later.bytes().value_or(0), most - kBytes / 2) << "begins anew";
}

}  // namespace
}  // namespace cachet::train
