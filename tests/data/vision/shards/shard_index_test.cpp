#include "cachet/data/vision/shards/shard_index.h"

#include <gtest/gtest.h>

#include <span>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/tar_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

using test::TarPart;

const std::vector<TarPart> kTwoSamples{
    {"0.jpg", "first"}, {"0.cls", "3\n"}, {"a/1.b.cls", "x"}, {"a/2.cls", "0"}, {"a/2.PNG", "third"}};

ShardIndex index_of(const std::vector<TarPart>& parts) {
  const std::string bytes = test::tar_archive(parts);
  return make_shard_index(io::MemorySource(std::as_bytes(std::span(bytes))), "a.tar");
}

void expect_refused(const std::vector<TarPart>& parts, const std::string& message) {
  EXPECT_EQ(test::cheap_refusal<io::Error>(1024 * parts.size(), [&] { index_of(parts); }), message);
}

TEST(ShardIndex, HasEachSample) {
  const ShardIndex index = index_of(kTwoSamples);
  EXPECT_EQ(index.samples, (std::vector<ShardSample>{{"0.jpg", 512, 5, 3}, {"a/2.PNG", 4608, 5, 0}}));
  EXPECT_EQ(index.others, 1);
  EXPECT_EQ(index.first_other, "a/1.b.cls");
}

TEST(ShardIndex, OtherMembersDoNotDivideASample) {
  const ShardIndex index =
      index_of({{"README", "x"}, {"0.jpg", "first"}, {"0.json", "{}"}, {"0.seg.png", "x"}, {"0.cls", "3"}});
  EXPECT_EQ(index.samples.size(), 1u);
  EXPECT_EQ(index.others, 3);
  EXPECT_EQ(index.first_other, "README");
}

TEST(ShardIndex, RefusesSamplesThatAreNotWhole) {
  expect_refused({{"0.jpg", "x"}, {"1.jpg", "x"}, {"1.cls", "1"}},
                 "a.tar: the member '0.jpg' has no class: a sample needs '0.cls' next to it");
  expect_refused({{"0.jpg", "x"}, {"0.cls", "1"}, {"1.cls", "1"}},
                 "a.tar: the member '1.cls' has no image: a sample needs '1.jpg' or .png next to it");
  expect_refused({{"0.jpg", "x"}, {"0.png", "x"}, {"0.cls", "1"}},
                 "a.tar: the member '0.png' is the second image of its sample");
  expect_refused({{"0.jpg", "x"}, {"0.cls", "1"}, {"0.cls", "1"}},
                 "a.tar: the member '0.cls' is the second class of its sample");
  expect_refused({{"0.jpg", "x"}, {"0.cls", "1"}, {"1.jpg", "x"}, {"1.cls", "1"}, {"0.png", "x"}, {"0.cls", "1"}},
                 "a.tar: the member '0.png' belongs to a sample whose members are not consecutive: the key '0' occurs "
                 "before, too");
}

TEST(ShardIndex, RefusesClassesThatAreNotNumbers) {
  for (const char* text : {"", "cat", "-1", "1.5", "1 2", "0x1", "99999999999999999999", "100000001", " 1"})
    expect_refused({{"0.jpg", "x"}, {"0.cls", text}}, "a.tar: the member '0.cls' has the class '" + std::string(text) +
                                                          "'; a class is a number in decimal digits, from 0 on");
  expect_refused({{"0.jpg", "x"}, {"0.cls", std::string(33, '1')}},
                 "a.tar: the member '0.cls' has 33 bytes; a class is a number in decimal digits");
  EXPECT_EQ(index_of({{"0.jpg", "x"}, {"0.cls", "007 \r\n"}}).samples[0].label, 7);
}

TEST(ShardIndex, ItsTextIsReadAsItWas) {
  const FileVersion version{10240, 1234567890};
  const ShardIndex index = index_of(kTwoSamples);
  const std::string text = to_text(index, version);
  EXPECT_EQ(parse_shard_index(text, version), index);
  EXPECT_EQ(parse_shard_index(text, {10240, 1234567891}), std::nullopt) << "another time";
  EXPECT_EQ(parse_shard_index(text, {10241, 1234567890}), std::nullopt) << "another size";
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(parse_shard_index(damaged, version), std::nullopt) << i;
    EXPECT_EQ(parse_shard_index(text.substr(0, i), version), std::nullopt) << i;
  }
  EXPECT_EQ(parse_shard_index(to_text(ShardIndex{{{"0.jpg", 512, 10240, 0}}}, version), version), std::nullopt)
      << "a sample beyond the end";
  EXPECT_EQ(parse_shard_index(to_text(ShardIndex{{{"0.jpg", 0, 1, -1}}}, version), version), std::nullopt);
}

class ShardIndexFile : public ::testing::Test {
 protected:
  ShardIndexFile() { test::write_bytes(shard_, test::tar_archive(kTwoSamples)); }

  test::TemporaryDirectory folder_;
  std::filesystem::path shard_ = folder_ / "a.tar";
};

TEST_F(ShardIndexFile, IsWrittenOnceAndUsed) {
  const ShardIndex index = read_shard_index(shard_);
  EXPECT_EQ(index.samples.size(), 2u);
  ASSERT_TRUE(std::filesystem::exists(index_path(shard_)));
  // An index that a user could tell from that of the shard.
  ShardIndex other = index;
  other.samples[0].label = 8;
  test::write_bytes(index_path(shard_), to_text(other, version_of(shard_)));
  EXPECT_EQ(read_shard_index(shard_), other);
}

TEST_F(ShardIndexFile, IsMadeAgainIfTheShardChanged) {
  read_shard_index(shard_);
  std::vector<TarPart> three = kTwoSamples;
  three.push_back({"4.jpg", "x"});
  three.push_back({"4.cls", "1"});
  test::write_bytes(shard_, test::tar_archive(three));
  EXPECT_EQ(read_shard_index(shard_).samples.size(), 3u);
  test::write_bytes(index_path(shard_), "damaged");
  EXPECT_EQ(read_shard_index(shard_).samples.size(), 3u);
  EXPECT_NE(test::read_bytes(index_path(shard_)), "damaged");
}

TEST_F(ShardIndexFile, IsInMemoryIfItCannotBeWritten) {
  std::filesystem::create_directory(index_path(shard_));  // also for root, who may write to a read-only folder
  EXPECT_EQ(read_shard_index(shard_).samples.size(), 2u);
  EXPECT_TRUE(std::filesystem::is_directory(index_path(shard_)));
}

}  // namespace
}  // namespace cachet::data
