#include "cachet/io/files/new_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

int64_t entries_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(NewFolder, AppearsWhenItIsFinished) {
  const test::TemporaryDirectory root;
  {
    NewFolder folder(root / "above/made/");
    std::ofstream(folder.path() / "a") << "text";
    EXPECT_FALSE(std::filesystem::exists(root / "above/made"));
    folder.finish();
  }
  EXPECT_TRUE(std::filesystem::exists(root / "above/made/a"));
  EXPECT_EQ(entries_in(root / "above"), 1);
}

TEST(NewFolder, LeavesNothingWithoutFinish) {
  const test::TemporaryDirectory root;
  {
    NewFolder folder(root / "made");
    std::ofstream(folder.path() / "a") << "text";
  }
  EXPECT_EQ(entries_in(root.path()), 0);
}

// A killed process leaves its temporary folder. The next one for the same name removes it, but nothing that somebody
// writes or owns.
TEST(NewFolder, RemovesWhatAKilledProcessLeft) {
  const test::TemporaryDirectory root;
  for (const char* name :
       {".made.tmp-12-0", ".made.tmp-12-0/inside", ".made.tmp-x", ".other.tmp-12-0", ".made.tmp-12-0-old"})
    std::filesystem::create_directory(root / name);
  std::ofstream(root / ".made.tmp-12-0/file") << "text";
  std::ofstream(root / ".made.tmp-13-0") << "a file";
  std::filesystem::create_directory_symlink(root / ".other.tmp-12-0", root / ".made.tmp-14-0");
  NewFolder first(root / "made");
  EXPECT_FALSE(std::filesystem::exists(root / ".made.tmp-12-0"));
  for (const char* name : {".made.tmp-x", ".other.tmp-12-0", ".made.tmp-12-0-old", ".made.tmp-13-0", ".made.tmp-14-0"})
    EXPECT_TRUE(std::filesystem::exists(root / name)) << name;
  NewFolder second(root / "made");
  EXPECT_TRUE(std::filesystem::exists(first.path())) << "it is being written";
  EXPECT_NE(first.path(), second.path());
  first.finish();
  EXPECT_FALSE(FolderLock::is_taken(root / "made"));
}

TEST(NewFolder, MayHaveTheLongestName) {
  const test::TemporaryDirectory root;
  const std::string name(255, 'n');
  for (int i = 0; i < 2; ++i) {
    NewFolder folder(root / name, NewFolder::Taken::replaced);
    std::ofstream(folder.path() / "a") << "text";
    folder.finish();
  }
  EXPECT_TRUE(std::filesystem::exists(root / name / "a"));
  EXPECT_EQ(entries_in(root.path()), 1);
}

TEST(NewFolder, TakesThePlaceOfAnother) {
  const test::TemporaryDirectory root;
  std::filesystem::create_directory(root / "made");
  std::ofstream(root / "made/old") << "text";
  {
    NewFolder folder(root / "made", NewFolder::Taken::replaced);
    std::ofstream(folder.path() / "new") << "text";
    EXPECT_TRUE(std::filesystem::exists(root / "made/old"));
    folder.finish();
  }
  EXPECT_TRUE(std::filesystem::exists(root / "made/new"));
  EXPECT_FALSE(std::filesystem::exists(root / "made/old"));
  EXPECT_EQ(entries_in(root.path()), 1);
}

TEST(NewFolder, IsTheOneThatALinkLeadsTo) {
  const test::TemporaryDirectory root;
  namespace fs = std::filesystem;
  fs::create_directories(root / "elsewhere/target");
  fs::create_directory_symlink("elsewhere/target", root / "link");
  for (const char* name : {"a", "b"}) {
    NewFolder folder(root / "link", NewFolder::Taken::replaced);
    std::ofstream(folder.path() / name) << "text";
    folder.finish();
    EXPECT_TRUE(fs::is_symlink(root / "link"));
    EXPECT_TRUE(fs::exists(root / "elsewhere/target" / name));
  }
  EXPECT_FALSE(fs::exists(root / "elsewhere/target/a"));
  EXPECT_EQ(entries_in(root / "elsewhere"), 1) << "nothing is left next to it";
  EXPECT_THROW(NewFolder(root / "link"), Error) << "it holds something";
  fs::create_directory_symlink("nowhere", root / "loose");
  EXPECT_NE(test::thrown_message<Error>([&] { NewFolder(root / "loose"); }).find("exists already"), std::string::npos);
}

TEST(NewFolder, ReplacesNothingThatCameMeanwhile) {
  for (const auto taken : {NewFolder::Taken::refused, NewFolder::Taken::replaced}) {
    const test::TemporaryDirectory root;
    {
      NewFolder folder(root / "made", taken);
      std::ofstream(folder.path() / "new") << "text";
      std::filesystem::create_directory(root / "made");
      std::ofstream(root / "made/of_somebody") << "text";
      EXPECT_EQ(test::thrown_message<Error>([&] { folder.finish(); }),
                (root / "made").string() + ": exists already; choose another name, or remove it");
    }
    EXPECT_TRUE(std::filesystem::exists(root / "made/of_somebody"));
    EXPECT_EQ(entries_in(root.path()), 1);
  }
}

TEST(NewFolder, MayFindNothingToReplaceAnyMore) {
  const test::TemporaryDirectory root;
  std::filesystem::create_directory(root / "made");
  std::ofstream(root / "made/old") << "text";
  NewFolder folder(root / "made", NewFolder::Taken::replaced);
  std::ofstream(folder.path() / "new") << "text";
  std::filesystem::remove_all(root / "made");
  folder.finish();
  EXPECT_TRUE(std::filesystem::exists(root / "made/new"));
}

TEST(NewFolder, ReplacesOnlyAnEmptyFolder) {
  const test::TemporaryDirectory root;
  std::filesystem::create_directory(root / "empty");
  NewFolder(root / "empty").finish();
  std::ofstream(root / "empty/a") << "text";
  const auto complaint = [&](const char* name) { return test::thrown_message<Error>([&] { NewFolder{root / name}; }); };
  EXPECT_EQ(complaint("empty"), (root / "empty").string() + ": exists already; choose another name, or remove it");
  EXPECT_NE(complaint("empty/a").find("exists already"), std::string::npos) << "a file";
  std::filesystem::create_symlink("nowhere", root / "link");
  EXPECT_NE(complaint("link").find("exists already"), std::string::npos);
  EXPECT_NE(complaint("empty/a/b").find("cannot be made"), std::string::npos) << "below a file";
}

}  // namespace
}  // namespace cachet::io
