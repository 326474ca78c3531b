#include "cachet/io/files/growing_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

/// Writes a few bytes at a time, is interrupted once, and is full after `capacity`.
class SmallDisk : public FileSystem {
 public:
  explicit SmallDisk(size_t capacity) : left_(capacity) {}
  ssize_t write(int file, const void* bytes, size_t count) override {
    if (!interrupted_) {
      interrupted_ = true;
      errno = EINTR;
      return -1;
    }
    if (left_ == 0) {
      errno = ENOSPC;
      return -1;
    }
    const size_t some = std::min({count, left_, size_t{3}});
    left_ -= some;
    return FileSystem::write(file, bytes, some);
  }

 private:
  size_t left_;
  bool interrupted_ = false;
};

TEST(GrowingFile, AppendsToWhatIsThere) {
  const cachet::test::TemporaryDirectory folder;
  GrowingFile(folder / "f").append("one ");
  GrowingFile file(folder / "f");
  file.append("two");
  file.sync();
  EXPECT_EQ(read_text_file(folder / "f", 100), "one two");
}

TEST(GrowingFile, GoesOnAfterShortAndInterruptedWrites) {
  const cachet::test::TemporaryDirectory folder;
  SmallDisk disk(100);
  GrowingFile(folder / "f", disk).append("a long record");
  EXPECT_EQ(read_text_file(folder / "f", 100), "a long record");
}

TEST(GrowingFile, NamesTheFileAndTheReason) {
  const cachet::test::TemporaryDirectory folder;
  SmallDisk disk(5);
  GrowingFile file(folder / "f", disk);
  const std::string message = cachet::test::thrown_message<Error>([&] { file.append("a long record"); });
  EXPECT_NE(message.find((folder / "f").string()), std::string::npos) << message;
  EXPECT_NE(message.find("cannot write 8 bytes: No space left"), std::string::npos) << message;
  EXPECT_NE(cachet::test::thrown_message<Error>([&] { GrowingFile missing(folder / "no" / "f"); }).find("opened"),
            std::string::npos);
}

TEST(GrowingFile, IsNotWrittenThroughALink) {
  const cachet::test::TemporaryDirectory folder;
  write_file_atomically(folder / "of_somebody", std::string_view("as it was"));
  std::filesystem::create_symlink("of_somebody", folder / "link");
  std::filesystem::create_symlink("nothing", folder / "dangling");
  for (const char* name : {"link", "dangling"})
    for (const FileAccess access : {FileAccess::shared, FileAccess::locked}) {
      const auto message = cachet::test::thrown_message<Error>([&] { GrowingFile file(folder / name, access); });
      EXPECT_NE(message.find(std::string(name) + ": is a symbolic link"), std::string::npos) << message;
    }
  EXPECT_EQ(read_text_file(folder / "of_somebody", 100), "as it was");
  EXPECT_FALSE(std::filesystem::exists(folder / "nothing"));
}

TEST(GrowingFile, FollowsLinksInThePathToItsFolder) {
  const cachet::test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink("real", folder / "link");
  GrowingFile(folder / "link/f").append("text");
  EXPECT_EQ(read_text_file(folder / "real/f", 100), "text");
}

TEST(GrowingFile, CanBeLocked) {
  const cachet::test::TemporaryDirectory folder;
  const auto path = folder / "f";
  {
    GrowingFile file(path, FileAccess::locked);
    const auto message = cachet::test::thrown_message<FileInUse>([&] { GrowingFile other(path, FileAccess::locked); });
    EXPECT_NE(message.find("f: another process is writing this file"), std::string::npos) << message;
    GrowingFile(path, FileAccess::shared).append("by one that does not ask");
  }
  GrowingFile(path, FileAccess::locked).append(", then locked");
  EXPECT_EQ(read_text_file(path, 100), "by one that does not ask, then locked");
}

TEST(GrowingFile, TheLockIsOfTheFileThatHasTheName) {
  const cachet::test::TemporaryDirectory folder;
  GrowingFile old(folder / "f", FileAccess::locked);
  write_file_atomically(folder / "f", std::string_view("new"));
  GrowingFile file(folder / "f", FileAccess::locked);
  EXPECT_THROW(GrowingFile(folder / "f", FileAccess::locked), FileInUse);
}

TEST(GrowingFile, CanBeCut) {
  const cachet::test::TemporaryDirectory folder;
  GrowingFile file(folder / "f");
  file.append("whole and torn");
  file.cut(5);
  file.append("!");
  EXPECT_EQ(read_text_file(folder / "f", 100), "whole!");
}

}  // namespace
}  // namespace cachet::io
