#include "cachet/train/machine/process_setup.h"

#include <gtest/gtest.h>

#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::train {
namespace {

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

TEST(UseThreads, RefusesMoreThanARunMayHave) {
  EXPECT_NE(test::thrown_message<std::runtime_error>([] { use_threads(kMaxThreads + 1); }).find("more than the"),
            std::string::npos);
}

}  // namespace
}  // namespace cachet::train
