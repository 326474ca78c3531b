#include "cachet/io/files/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cachet/io/compression/compressed.h"
#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

std::string refusal(const std::filesystem::path& path, uint64_t max_bytes = 100) {
  return test::thrown_message<Error>([&] { read_file(path, max_bytes); });
}

TEST(ReadFile, ReadsWholeFiles) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "a", std::string("a\0b", 3));
  EXPECT_EQ(read_text_file(folder / "a", 3), std::string("a\0b", 3));
  test::write_bytes(folder / "empty", "");
  EXPECT_TRUE(read_file(folder / "empty", 0).empty());
}

TEST(ReadFile, GivesAFileInPieces) {
  const test::TemporaryDirectory folder;
  const auto pieces = [&](const std::string& text) {
    test::write_bytes(folder / "a", text);
    std::vector<std::string> all;
    for_each_piece_of_file(folder / "a", 4, [&](std::span<const std::byte> piece) {
      all.emplace_back(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    return all;
  };
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(pieces(""), Pieces{});
  EXPECT_EQ(pieces("abc"), Pieces{"abc"});
  EXPECT_EQ(pieces("abcdefgh"), (Pieces{"abcd", "efgh"}));
  EXPECT_EQ(pieces("abcdefghi"), (Pieces{"abcd", "efgh", "i"}));
  EXPECT_THROW(for_each_piece_of_file(folder.path(), 4, [](auto) {}), Error);
}

TEST(ReadFile, RefusesWhatIsNoRegularFileAndDoesNotWait) {
  const test::TemporaryDirectory folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder / "fifo"), (folder / "fifo").string() + ": is not a regular file");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is not a regular file");
  EXPECT_EQ(refusal(folder.path()), folder.path().string() + ": is a folder");
  EXPECT_EQ(refusal(folder / "none"), (folder / "none").string() + ": opening failed: No such file or directory");
}

TEST(ReadFile, RefusesLargeFilesBeforeItTakesMemory) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "large", "");
  std::filesystem::resize_file(folder / "large", uint64_t{1} << 40);
  EXPECT_EQ(refusal(folder / "large"), (folder / "large").string() + ": has 1099511627776 bytes; the maximum is 100");
}

TEST(ReadFile, RefusesWhatGitLfsLeaves) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "config.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
  for (const std::string& message :
       {refusal(folder / "config.json"),
        test::thrown_message<Error>([&] { read_text_file(folder / "config.json", 100); }),
        test::thrown_message<Error>([&] { read_decompressed(folder / "config.json", 100); })})
    EXPECT_TRUE(message.starts_with((folder / "config.json").string() + ": is a Git LFS pointer, because")) << message;
}

TEST(ReadFile, ReportsAFileThatShrinks) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "a", "0123456789");
  InputFile file(folder / "a");
  std::filesystem::resize_file(folder / "a", 4);
  std::vector<std::byte> bytes(10);
  const std::string message = test::thrown_message<Error>([&] { file.read(bytes); });
  EXPECT_EQ(message, (folder / "a").string() + ": ends at byte 4 of 10: the file changed while it was read");
}

}  // namespace
}  // namespace cachet::io
