#include "cachet/io/files/atomic_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/bytes.h"
#include "tests/support/power_cut.h"
#include "tests/support/recording_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

using test::RecordingFileSystem;
using test::TemporaryDirectory;
using Kind = RecordingFileSystem::Call::Kind;

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(AtomicFile, WritesFilesAndReplacesThem) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "a", std::string_view("one"));
  write_file_atomically(folder / "a", std::string_view("two and more"));
  write_file_atomically(folder / "empty", std::string_view());
  EXPECT_EQ(test::read_bytes(folder / "a"), "two and more");
  EXPECT_EQ(test::read_bytes(folder / "empty"), "");
  EXPECT_EQ(files_in(folder.path()), 2u);
}

TEST(AtomicFile, WritesFilesOfTheLongestNames) {
  const TemporaryDirectory folder;
  for (const size_t bytes : {253, 254, 255}) {
    write_file_atomically(folder / std::string(bytes, 'n'), std::string_view("text"));
    EXPECT_EQ(test::read_bytes(folder / std::string(bytes, 'n')), "text") << bytes;
  }
}

TEST(AtomicFile, CutsNamesBetweenCharacters) {
  EXPECT_EQ(name_with_suffix("name", ".png"), "name.png");
  EXPECT_EQ(name_with_suffix(std::string(251, 'n'), ".png"), std::string(251, 'n') + ".png");
  EXPECT_EQ(name_with_suffix(std::string(255, 'n'), ".png"), std::string(251, 'n') + ".png");
  std::string umlauts;
  while (umlauts.size() < 254) umlauts += "\u00e4";
  EXPECT_EQ(name_with_suffix(umlauts, ".png"), umlauts.substr(0, 250) + ".png");
}

TEST(AtomicFile, TakesNoNameThatAKilledProcessOfTheSameNumberLeft) {
  const TemporaryDirectory folder;
  const std::string name = temporary_path(folder / "a").filename().string();
  const size_t number = name.rfind('-') + 1;
  const int64_t last = std::stoll(name.substr(number));
  for (int64_t next = last + 1; next < last + 4; ++next)
    test::write_bytes(folder / (name.substr(0, number) + std::to_string(next)), "cut off");
  write_file_atomically(folder / "a", std::string_view("whole"));
  EXPECT_EQ(test::read_bytes(folder / "a"), "whole");
  EXPECT_EQ(files_in(folder.path()), 4u);  // the files of the other process stay
}

TEST(AtomicFile, ReplacesALinkAndLeavesWhatItLeadsTo) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "of_somebody", std::string_view("as it was"));
  std::filesystem::create_symlink("of_somebody", folder / "link");
  write_file_atomically(folder / "link", std::string_view("text"));
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(test::read_bytes(folder / "link"), "text");
  EXPECT_EQ(test::read_bytes(folder / "of_somebody"), "as it was");
}

TEST(AtomicFile, GoesOnAfterPartialWrites) {
  const TemporaryDirectory folder;
  RecordingFileSystem file_system;
  file_system.limit_writes(3);
  write_file_atomically(folder / "a", std::string_view("0123456789"), file_system);
  EXPECT_EQ(test::read_bytes(folder / "a"), "0123456789");
}

TEST(AtomicFile, SyncsTheFileBeforeTheRenameAndTheFolderAfter) {
  const TemporaryDirectory folder;
  RecordingFileSystem file_system;
  write_file_atomically(folder / "a", std::string_view("text"), file_system);
  std::vector<Kind> kinds;
  for (const auto& call : file_system.calls()) kinds.push_back(call.kind);
  EXPECT_EQ(kinds, (std::vector{Kind::kOpen, Kind::kWrite, Kind::kFsync, Kind::kClose, Kind::kRename, Kind::kOpen,
                                Kind::kFsync, Kind::kClose}));
  EXPECT_TRUE(is_temporary_file(file_system.calls()[0].path));
  EXPECT_FALSE(is_temporary_file(folder / "a"));
}

TEST(AtomicFile, EveryCallThatFailsIsReportedAndLeavesAWholeFile) {
  for (const int error : {EIO, ENOSPC, EDQUOT}) {
    for (size_t index = 0; index < 8; ++index) {
      const TemporaryDirectory folder;
      write_file_atomically(folder / "a", std::string_view("old"));
      RecordingFileSystem file_system;
      file_system.fail_at(index, error);
      const std::string message = test::thrown_message<Error>(
          [&] { write_file_atomically(folder / "a", std::string_view("newer"), file_system); });
      SCOPED_TRACE(message);
      EXPECT_NE(message.find(std::strerror(error)), std::string::npos);
      EXPECT_NE(message.find(folder.path().string()), std::string::npos);
      const bool is_renamed = index > 4;
      EXPECT_EQ(message.find("5 bytes") != std::string::npos, !is_renamed);
      EXPECT_EQ(test::read_bytes(folder / "a"), is_renamed ? "newer" : "old");
      EXPECT_EQ(files_in(folder.path()), 1u) << "a temporary file is left";
    }
  }
}

TEST(AtomicFile, EndsAtAnyCallWithAWholeFile) {
  for (size_t index = 0; index < 8; ++index) {
    const TemporaryDirectory folder;
    write_file_atomically(folder / "a", std::string_view("old"));
    RecordingFileSystem file_system;
    file_system.die_after(index);
    try {
      write_file_atomically(folder / "a", std::string_view("newer"), file_system);
    } catch (const RecordingFileSystem::Died&) {
    }
    EXPECT_EQ(test::read_bytes(folder / "a"), index >= 4 ? "newer" : "old") << index;
  }
}

TEST(AtomicFile, APowerCutAtAnyCallLeavesAWholeFile) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "disk");
  write_file_atomically(folder / "disk" / "a", std::string_view("the old text"));
  test::PowerCutDisk disk(folder / "disk");
  RecordingFileSystem file_system;
  file_system.limit_writes(5);
  write_file_atomically(folder / "disk" / "a", std::string_view("the newer text"), file_system);
  int state = 0;
  bool saw_old = false, saw_new = false;
  for (const auto& call : file_system.calls()) {
    disk.apply(call);
    for (uint32_t seed = 0; seed < 16; ++seed) {
      const auto place = folder / ("state" + std::to_string(state++));
      disk.materialise(place, seed);
      const std::string text = test::read_bytes(place / "a");
      EXPECT_TRUE(text == "the old text" || text == "the newer text") << text;
      saw_old |= text == "the old text";
      saw_new |= text == "the newer text";
    }
  }
  EXPECT_TRUE(saw_old && saw_new);
}

TEST(AtomicFile, ASimulatedPowerCutShowsAMissingSync) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "disk");
  write_file_atomically(folder / "disk" / "a", std::string_view("old"));
  test::PowerCutDisk disk(folder / "disk");
  RecordingFileSystem file_system;
  write_file_atomically(folder / "disk" / "a", std::string_view("new"), file_system);
  for (const auto& call : file_system.calls()) {
    const bool is_first_sync = call.kind == Kind::kFsync && is_temporary_file(call.path);
    if (!is_first_sync) disk.apply(call);
  }
  disk.materialise(folder / "after", 1);
  EXPECT_EQ(test::read_bytes(folder / "after" / "a"), "") << "renamed without fsync: the bytes may be lost";
}

TEST(AtomicFile, NewFilesDoNotReplaceOthers) {
  const TemporaryDirectory folder;
  write_new_file(folder / "a", test::bytes_of("one"));
  EXPECT_THROW(write_new_file(folder / "a", test::bytes_of("two")), Error);
  EXPECT_EQ(test::read_bytes(folder / "a"), "one");
  rename_durably(folder / "a", folder / "b");
  EXPECT_EQ(test::read_bytes(folder / "b"), "one");
  EXPECT_THROW(rename_durably(folder / "a", folder / "c"), Error);
}

TEST(AtomicFile, NamesAFolderThatIsMissing) {
  const TemporaryDirectory folder;
  const std::string message =
      test::thrown_message<Error>([&] { write_file_atomically(folder / "none" / "a", std::string_view("text")); });
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  EXPECT_THROW(write_file_atomically(folder.path() / "", std::string_view("text")), Error);
}

TEST(AtomicFile, ComparesWithTheFreeSpace) {
  const TemporaryDirectory folder;
  EXPECT_GT(free_space(folder.path()), 0u);
  EXPECT_NO_THROW(require_free_space(folder.path(), 1));
  const std::string message = test::thrown_message<Error>([&] { require_free_space(folder.path(), UINT64_MAX); });
  EXPECT_NE(message.find("needs 18446744073709551615 bytes, but only"), std::string::npos) << message;
  EXPECT_THROW(free_space(folder / "none"), Error);
}

}  // namespace
}  // namespace cachet::io
