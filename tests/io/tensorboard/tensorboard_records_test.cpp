#include "cachet/io/tensorboard/tensorboard_records.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cachet/io/digests/crc32c.h"
#include "tests/support/tensorboard_reader.h"

namespace cachet::io {
namespace {

// The examples of RFC 3720, appendix B.4.
TEST(Crc32c, MeetsTheStandard) {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
    descending += static_cast<char>(31 - i);
  }
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(ascending), 0x46DD794EU);
  EXPECT_EQ(crc32c(descending), 0x113FDB5CU);
  EXPECT_EQ(crc32c(""), 0U);
}

// The first record of every file that TensorBoard's own writer makes at second 0, byte for byte but for the step, which
// it leaves out where it is 0.
TEST(TensorBoardRecords, AreFramed) {
  const std::string record = tensorboard_version(0);
  const std::string content = std::string("\x09\0\0\0\0\0\0\0\0\x10\0\x1A\x0D", 13) + "brain.Event:2";
  ASSERT_EQ(record.size(), 8 + 4 + content.size() + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x1A\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, content.size()), content);
}

TEST(TensorBoardRecords, AreReadBack) {
  const std::string file =
      tensorboard_version(1.5) + tensorboard_session_start(2.5, 7) +
      tensorboard_scalars(3.5, int64_t{1} << 40, {{"a/b", 0.1, "a/Bee", "in *pixels*"}, {"c", -2}}) +
      tensorboard_text(4.5, 300, "t", "**bold** ü");
  const auto events = test::read_tensorboard(file);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_EQ(events[0].wall_time, 1.5);
  EXPECT_TRUE(events[1].starts_session);
  EXPECT_EQ(events[1].step, 7);
  EXPECT_EQ(events[2].step, int64_t{1} << 40);
  EXPECT_EQ(events[2].scalars, (std::map<std::string, float>{{"a/b", 0.1F}, {"c", -2.0F}}));
  EXPECT_EQ(events[2].titles, (std::map<std::string, std::string>{{"a/b", "a/Bee"}}));
  EXPECT_EQ(events[2].descriptions.at("a/b"), "in *pixels*");
  EXPECT_EQ(events[3].texts.at("t"), "**bold** ü");
}

TEST(TensorBoardRecords, NumbersThatAreNotFiniteStay) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto events = test::read_tensorboard(tensorboard_scalars(0, 1, {{"n", std::nan("")}, {"i", -infinity}}));
  EXPECT_TRUE(std::isnan(events.at(0).scalars.at("n")));
  EXPECT_EQ(events.at(0).scalars.at("i"), -std::numeric_limits<float>::infinity());
}

TEST(TensorBoardRecords, EveryTornTailLeavesTheRecordsBefore) {
  const std::string first = tensorboard_version(1), second = tensorboard_scalars(2, 3, {{"loss", 0.5}});
  for (size_t kept = 0; kept < second.size(); ++kept)
    EXPECT_EQ(test::read_tensorboard(first + second.substr(0, kept)).size(), 1U) << kept;
  EXPECT_EQ(test::read_tensorboard(first + second).size(), 2U);
}

TEST(TensorBoardRecords, EveryChangedBitShows) {
  const std::string record = tensorboard_scalars(2, 3, {{"loss", 0.5}});
  for (size_t i = 0; i < record.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = record;
      changed[i] ^= static_cast<char>(1 << bit);
      EXPECT_THROW(test::read_tensorboard(changed), std::runtime_error) << i;
    }
  }
}

TEST(TensorBoardRecords, TheLastStepIsThatOfTheLastWholeRecord) {
  const std::string first = tensorboard_version(1.5) + tensorboard_scalars(2.5, 300, {{"a", 1}});
  EXPECT_EQ(last_tensorboard_step(""), std::nullopt);
  EXPECT_EQ(last_tensorboard_step(tensorboard_version(1.5)), 0);
  EXPECT_EQ(last_tensorboard_step(first), 300);
  const std::string last = tensorboard_session_start(3.5, int64_t{1} << 40);
  EXPECT_EQ(last_tensorboard_step(first + last), int64_t{1} << 40);
  for (size_t kept = 0; kept < last.size(); ++kept)
    EXPECT_EQ(last_tensorboard_step(first + last.substr(0, kept)), 300) << kept;
  for (size_t place = 0; place < last.size(); ++place) {
    std::string damaged = first + last + tensorboard_scalars(4.5, 7, {});
    damaged[first.size() + place] ^= 0x10;
    EXPECT_EQ(last_tensorboard_step(damaged), 300) << place;
  }
}

}  // namespace
}  // namespace cachet::io
