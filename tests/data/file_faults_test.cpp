#include "cachet/data/file_faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

TEST(FileFaults, AreFoundWithoutOpening) {
  const test::TemporaryDirectory folder;
  for (const char* name : {"a.png", "b.png", "locked.png"}) test::write_bytes(folder / name, "bytes");
  test::write_bytes(folder / "empty.png", "");
  fs::create_directory(folder / "folder.png");
  fs::create_symlink(folder / "a.png", folder / "link.png");
  fs::create_symlink(folder / "nowhere", folder / "loose.png");
  const auto found = [&](const std::vector<std::string>& names) { return faults_of_files(folder.path(), names); };
  const auto path = [&](const char* name) { return (folder / name).string(); };

  const FileFaults none = found({"a.png", "b.png", "link.png"});
  EXPECT_EQ(none.files, 3);
  EXPECT_EQ(none.faulty, 0);
  EXPECT_EQ(none.first, "");
  EXPECT_EQ(found({}).files, 0);

  const FileFaults some = found({"a.png", "empty.png", "absent.png", "folder.png", "b.png", "loose.png"});
  EXPECT_EQ(some.files, 6);
  EXPECT_EQ(some.faulty, 4);
  EXPECT_EQ(some.first, path("empty.png") + ": the file is empty");
  EXPECT_EQ(found({"absent.png"}).first, path("absent.png") + ": opening failed: No such file or directory");
  EXPECT_EQ(found({"folder.png"}).first, path("folder.png") + ": is a folder");
  EXPECT_EQ(found({"/dev/null"}).first, "/dev/null: is not a regular file");
  if (::geteuid() != 0) {  // who may read everything
    fs::permissions(folder / "locked.png", fs::perms::none);
    EXPECT_EQ(found({"locked.png"}).first, path("locked.png") + ": opening failed: Permission denied");
  }
}

TEST(FileFaults, OfMoreFilesThanAThreadLooksAt) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "a.png", "bytes");
  test::write_bytes(folder / "empty.png", "");
  std::vector<std::string> names(20'000, "a.png");
  for (const size_t index : {size_t{4'100}, size_t{12'345}, names.size() - 1}) names[index] = "absent.png";
  names[4'099] = "empty.png";
  const FileFaults found = faults_of_files(folder.path(), names);
  EXPECT_EQ(found.files, 20'000);
  EXPECT_EQ(found.faulty, 4);
  EXPECT_EQ(found.first, (folder / "empty.png").string() + ": the file is empty");
}

}  // namespace
}  // namespace cachet::data
