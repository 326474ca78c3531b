#include "cachet/data/folder_walk.h"

#include <gtest/gtest.h>

#include "tests/data/text/review_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

TEST(PassedOver, SaysHowManyOfWhichKindAndNamesTheFirst) {
  PassedOver files("a .txt file", ".txt files");
  EXPECT_EQ(files.note(), std::nullopt);
  files.add_hidden("a/.DS_Store");
  EXPECT_EQ(files.note(), "1 hidden file was skipped: a/.DS_Store");
  files.add_hidden("a/._b");
  EXPECT_EQ(files.note(), "2 hidden files were skipped. The first one is a/.DS_Store");
  PassedOver more("a .txt file", ".txt files");
  more.add_other("b/x.md");
  EXPECT_EQ(more.note(), "1 file that is not a .txt file was skipped: b/x.md");
  more.add_other("b/y.md");
  EXPECT_EQ(more.note(), "2 files that are not .txt files were skipped. The first one is b/x.md");
  files.add(more);
  EXPECT_EQ(files.count(), 4);
  EXPECT_EQ(files.note(), "4 files were skipped (2 hidden, 2 not .txt files). The first one is a/.DS_Store");
  PassedOver none("a .txt file", ".txt files");
  none.add(more);
  EXPECT_EQ(none.first(), "b/x.md");
}

TEST(FolderWalk, CountsHiddenFilesAndFoldersAtAnyDepth) {
  const test::TemporaryDirectory root;
  for (const char* name : {"b/c.txt", "b/.hidden/d.txt", "b/c/.e", "._a.txt", "note.md"})
    test::write_text(root / name, "text");
  const FoundTexts found = text_files_below(root.path());
  EXPECT_EQ(found.files, std::vector<std::filesystem::path>{root / "b/c.txt"});
  EXPECT_EQ(found.passed_over.note(),
            "4 files were skipped (3 hidden, 1 not .txt files). The first one is " + (root / "._a.txt").string());
}

}  // namespace
}  // namespace cachet::data
