#include "cachet/io/folder_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "cachet/io/error.h"
#include "tests/support/temporary_directory.h"

namespace cachet::io {
namespace {

TEST(FolderLock, KeepsOthersOutUntilItsEnd) {
  const test::TemporaryDirectory folder;
  EXPECT_FALSE(FolderLock::is_taken(folder.path()));
  {
    const auto lock = FolderLock::take_if_free(folder.path());
    ASSERT_TRUE(lock);
    EXPECT_TRUE(FolderLock::is_taken(folder.path()));
    EXPECT_FALSE(FolderLock::take_if_free(folder.path()));
    const auto copy = std::make_unique<FolderLock>(*lock);
    EXPECT_FALSE(FolderLock::take_if_free(folder.path()));
  }
  EXPECT_FALSE(FolderLock::is_taken(folder.path()));
  EXPECT_TRUE(FolderLock::take_if_free(folder.path()));
}

TEST(FolderLock, IsTheFoldersWhateverItsName) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "a");
  const auto lock = FolderLock::take_if_free(folder / "a");
  std::filesystem::rename(folder / "a", folder / "b");
  EXPECT_TRUE(FolderLock::is_taken(folder / "b"));
}

TEST(FolderLock, CanBeWaitedFor) {
  const test::TemporaryDirectory folder;
  auto held = FolderLock::take_if_free(folder.path());
  ASSERT_TRUE(held);
  std::atomic<bool> let_go = false, came_before = false;
  std::thread other([&] {
    const FolderLock lock = FolderLock::wait_for(folder.path());
    came_before = !let_go;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  let_go = true;
  held.reset();
  other.join();
  EXPECT_FALSE(came_before);
}

TEST(FolderLock, SaysWhatCannotBeOpened) {
  const test::TemporaryDirectory folder;
  EXPECT_THROW(FolderLock::take_if_free(folder / "absent"), Error);
  EXPECT_THROW(FolderLock::wait_for(folder / "absent"), Error);
  EXPECT_TRUE(FolderLock::is_taken(folder / "absent")) << "nobody knows";
}

}  // namespace
}  // namespace cachet::io
