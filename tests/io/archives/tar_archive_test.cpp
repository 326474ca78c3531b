#include "cachet/io/archives/tar_archive.h"

#include <gtest/gtest.h>

#include <vector>

#include "cachet/io/archives/tar_writer.h"
#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/tar_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::io {
namespace {

using test::TarPart;

std::vector<TarMember> tar_members(const std::string& bytes, const TarLimits& limits = {}) {
  const auto memory = std::as_bytes(std::span(bytes));
  std::vector<TarMember> members;
  for_each_tar_member(
      MemorySource(memory), "a.tar", [&](TarMember&& member) { members.push_back(std::move(member)); }, limits);
  return members;
}

std::string tar_refusal(const std::string& bytes, const TarLimits& limits = {}) {
  const std::string message = test::cheap_refusal<Error>(bytes.size(), [&] { tar_members(bytes, limits); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_TRUE(message.starts_with("a.tar: ")) << message;
  return message;
}

void expect_refused(const std::string& bytes, const std::string& part) {
  const std::string message = tar_refusal(bytes);
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
}

TEST(TarArchive, FindsTheBytesOfEachFile) {
  const std::string long_name = std::string(60, 'd') + "/" + std::string(80, 'f') + ".jpg";
  const std::vector<TarPart> parts{{"./", "", '5'},
                                   {"./0.jpg", "first"},
                                   {"./0.cls", ""},
                                   {"folder/", "", '5'},
                                   {"folder/1.jpg", std::string(512, 'b')},
                                   {"PaxHeader", test::pax_line("path", "ä/2.jpg"), 'x'},
                                   {"2.jpg", std::string(513, 'c')},
                                   {"././@LongLink", long_name + '\0', 'L'},
                                   {long_name.substr(0, 99), "last", '\0'}};
  const std::string bytes = test::tar_archive(parts);
  const auto members = tar_members(bytes);
  ASSERT_EQ(members.size(), 5u);
  const std::vector<std::pair<std::string, std::string>> expected{{"0.jpg", "first"},
                                                                  {"0.cls", ""},
                                                                  {"folder/1.jpg", std::string(512, 'b')},
                                                                  {"ä/2.jpg", std::string(513, 'c')},
                                                                  {long_name, "last"}};
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i].name, expected[i].first);
    EXPECT_EQ(bytes.substr(members[i].begin, members[i].size), expected[i].second) << i;
  }
}

TEST(TarArchive, ReadsWhatTheWriterWrote) {
  const test::TemporaryDirectory folder;
  TarWriter writer(folder / "a.tar");
  std::vector<std::string> contents;
  for (const size_t size : {0, 1, 511, 512, 513, 40'000}) {
    contents.push_back(std::string(size, 'x'));
    writer.add(std::to_string(contents.size()) + ".png", test::bytes_of(contents.back()));
  }
  const uint64_t size = writer.size();
  writer.finish();
  const std::string bytes = test::read_bytes(folder / "a.tar");
  EXPECT_EQ(bytes.size(), size);
  EXPECT_EQ(size % 10240, 0u);
  const auto members = tar_members(bytes);
  ASSERT_EQ(members.size(), contents.size());
  for (size_t i = 0; i < members.size(); ++i) EXPECT_EQ(bytes.substr(members[i].begin, members[i].size), contents[i]);
  EXPECT_THROW(TarWriter(folder / "a.tar"), Error);
  EXPECT_THROW(TarWriter(folder / "b.tar").add(std::string(101, 'n'), {}), std::invalid_argument);
}

TEST(TarArchive, AcceptsAnArchiveWithoutMembers) { EXPECT_TRUE(tar_members(std::string(10240, '\0')).empty()); }

TEST(TarArchive, RefusesNamesThatLeadOut) {
  expect_refused(test::tar_archive({{"/etc/passwd", "x"}}), "'/etc/passwd' has an absolute path");
  for (const char* name : {"../0.jpg", "a/../../0.jpg", "a/..", "./../0.jpg"})
    expect_refused(test::tar_archive({{name, "x"}}), "has a path that leads out of the archive");
  expect_refused(test::tar_archive({{"../folder/", "", '5'}}), "has a path that leads out of the archive");
  expect_refused(test::tar_archive({{"a\tb.jpg", "x"}}), "'a?b.jpg' has control characters in its name");
  expect_refused(test::tar_archive({{"x", test::pax_line("path", std::string(2000, 'n')), 'x'}, {"0.jpg", "x"}}),
                 "has a name of 2000 bytes; the maximum is 1024");
}

TEST(TarArchive, RefusesEverythingButRegularFiles) {
  expect_refused(test::tar_archive({{"0.jpg", "", '2', "", "/etc/passwd"}}), "'0.jpg' is a link");
  expect_refused(test::tar_archive({{"0.jpg", "", '1', "", "other"}}), "'0.jpg' is a link");
  for (const char type : {'3', '4', '6'})
    expect_refused(test::tar_archive({{"0.jpg", "", type}}), "'0.jpg' is not a regular file");
}

TEST(TarArchive, RefusesSparseFiles) {
  TarPart old{"0.jpg", std::string(512, 'x'), 'S'};
  std::string header = test::tar_header(old);
  // A map of one extent of 512 bytes at 1 TiB, and the real size after it.
  header.replace(257, 8, std::string("ustar  \0", 8));
  header.replace(386, 24, test::binary_size(int64_t{1} << 40) + test::octal_field(512, 12));
  header.replace(483, 12, test::binary_size((int64_t{1} << 40) + 512));
  header.replace(148, 8, "        ");
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  header.replace(148, 8, test::octal_field(sum, 7) + ' ');
  expect_refused(header + old.content + std::string(1024, '\0'), "sparse");
  const std::string keys = test::pax_line("GNU.sparse.major", "0") + test::pax_line("GNU.sparse.minor", "1") +
                           test::pax_line("GNU.sparse.name", "0.jpg") +
                           test::pax_line("GNU.sparse.size", "1099511627776") +
                           test::pax_line("GNU.sparse.numblocks", "1") + test::pax_line("GNU.sparse.map", "512,4");
  expect_refused(test::tar_archive({{"x", keys, 'x'}, {"0.jpg", "data"}}), "sparse");
}

TEST(TarArchive, RefusesWrongSizes) {
  const auto sized = [](const std::string& size) { return test::tar_archive({{"0.jpg", "data", '0', size}}); };
  expect_refused(sized(test::octal_field(2000, 12)), "'0.jpg' has 2000 bytes, but the archive ends after 1536 of them");
  expect_refused(sized("77777777777"), "but the archive ends after");
  expect_refused(sized(test::binary_size(int64_t{1} << 62)), "0.jpg");
  expect_refused(sized(test::binary_size(-5)), "a.tar: ");
  expect_refused(sized("no number   "), "a.tar: ");
  expect_refused(test::tar_archive({{"x", test::pax_line("size", "3"), 'x'}, {"0.jpg", "data"}}),
                 "has two sizes in its headers, 4 and 3 bytes");
}

TEST(TarArchive, RefusesHugePaxHeaders) {
  expect_refused(test::tar_archive({{"x", "", 'x', test::octal_field(uint64_t{1} << 32, 12)}, {"0.jpg", "x"}}),
                 "is not a readable tar archive");
  expect_refused(
      test::tar_archive({{"././@LongLink", "", 'L', test::octal_field(uint64_t{1} << 32, 12)}, {"0.jpg", "x"}}),
      "is not a readable tar archive");
}

TEST(TarArchive, RefusesDamagedAndTruncatedArchives) {
  const std::string good = test::tar_archive({{"0.jpg", std::string(600, 'x')}, {"0.cls", "1"}});
  ASSERT_EQ(good.size(), 512u + 1024 + 512 + 512 + 1024);
  for (size_t size = 1; size < good.size(); size += 37) tar_refusal(good.substr(0, size));
  for (const size_t members_only : {size_t{1536}, size_t{2560}, size_t{3072}})
    expect_refused(good.substr(0, members_only), "so it may be truncated");
  expect_refused("", "the file is empty");
  expect_refused(std::string(4096, 'x'), "is not a readable tar archive");
  expect_refused(test::tar_archive({{"0.jpg", "x", '0', "", "", /*wrong_sum=*/true}}), "is not a readable tar archive");
  expect_refused(good + "more", "byte 3584: bytes follow the end of the archive");
  expect_refused(good + good, "byte 3584: bytes follow the end of the archive");
  expect_refused(good + std::string(size_t{2} << 20, '\0'), "bytes follow the end of the archive");
}

TEST(TarArchive, RefusesCompressedArchives) {
  for (const auto& [magic, name] : std::vector<std::pair<std::string, std::string>>{{"\x1f\x8b\x08", "gzip"},
                                                                                    {"\xfd"
                                                                                     "7zXZ",
                                                                                     "xz"},
                                                                                    {"\x28\xb5\x2f\xfd", "Zstandard"},
                                                                                    {"BZh9", "bzip2"}})
    expect_refused(magic + std::string(100, 'x'), "is compressed with " + name + "; unpack it with ");
}

TEST(TarArchive, RefusesTooManyMembers) {
  const std::string bytes = test::tar_archive({{"0.jpg", "x"}, {"1.jpg", "x"}, {"2.jpg", "x"}});
  EXPECT_EQ(tar_members(bytes, {.members = 3}).size(), 3u);
  EXPECT_NE(tar_refusal(bytes, {.members = 2}).find("has more than 2 members"), std::string::npos);
}

TEST(TarArchive, PassesOnTheErrorOfTheSource) {
  struct Failing : ByteSource {
    uint64_t size() const override { return 10240; }
    void read_at(uint64_t position, std::span<std::byte> bytes) const override {
      if (position > 0 || bytes.size() > 64) throw Error("the disk failed");
      std::ranges::fill(bytes, std::byte{'a'});
    }
  };
  EXPECT_EQ(test::thrown_message<Error>([] { for_each_tar_member(Failing(), "a.tar", [](TarMember&&) {}); }),
            "the disk failed");
}

}  // namespace
}  // namespace cachet::io
