#include "cachet/io/files/folder_lock.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
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

TEST(FolderLock, CanBeShared) {
  const test::TemporaryDirectory folder;
  {
    const auto first = FolderLock::take_shared(folder.path()), second = FolderLock::take_shared(folder.path());
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(FolderLock::take_if_free(folder.path()));
  }
  EXPECT_TRUE(FolderLock::take_if_free(folder.path()));
  EXPECT_FALSE(FolderLock::take_shared(folder / "absent"));
}

/// From here on flock(2) fails in this process as where a file system has no locks.
void forbid_locks() {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::exit(2);
}

TEST(FolderLock, IsHadWhereTheFileSystemKnowsNoLocks) {
  const test::TemporaryDirectory folder;
  EXPECT_EXIT(
      {
        forbid_locks();
        const auto lock = FolderLock::take_if_free(folder.path());
        FolderLock::wait_for(folder.path());
        const auto shared = FolderLock::take_shared(folder.path());
        std::exit(lock && shared && FolderLock::is_taken(folder.path()) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(FolderLock, SaysWhatCannotBeOpened) {
  const test::TemporaryDirectory folder;
  EXPECT_THROW(FolderLock::take_if_free(folder / "absent"), Error);
  EXPECT_THROW(FolderLock::wait_for(folder / "absent"), Error);
  EXPECT_TRUE(FolderLock::is_taken(folder / "absent")) << "nobody knows";
}

}  // namespace
}  // namespace cachet::io
