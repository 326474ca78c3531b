#include "cachet/io/growing_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "cachet/io/error.h"
#include "cachet/io/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

/// Writes a few bytes at a time, is interrupted once, and is full behind `capacity`.
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

}  // namespace
}  // namespace cachet::io
