#include "cachet/data/text/listops/listops_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cachet/data/text/listops/listops.h"
#include "cachet/io/error.h"
#include "tests/support/oracle_folder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::shared_ptr<const SequenceDataset> listops_of(const std::string& text, const SequenceRules& rules = {}) {
  return read_listops(io::MemorySource(std::as_bytes(std::span(text))), "a.tsv", rules);
}

std::string listops_complaint(const std::string& rows, const SequenceRules& rules = {}) {
  return test::thrown_message<io::Error>([&] { listops_of("Source\tTarget\n" + rows, rules); });
}

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

TEST(ListOpsFile, IsReadAsTheArenaWritesIt) {
  const auto expressions = read_listops(io::FileSource(test::oracle_folder() / "listops.tsv"), "listops.tsv", {});
  EXPECT_GT(expressions->size(), 0);
  EXPECT_EQ(expressions->classes(), 10);
  EXPECT_EQ(expressions->vocabulary().size, 17);
  EXPECT_FALSE(expressions->has_pairs());
  for (int64_t i = 0; i < expressions->size(); ++i)
    EXPECT_EQ(evaluate_listops(expressions->tokens(i)), expressions->label(i));
  EXPECT_EQ(expressions->counts().truncated, 0);
  // Python's csv module, which the arena uses, ends lines with both.
  EXPECT_EQ(listops_of("Source\tTarget\r\n[MIN 3 4 ]\t3\r\n")->label(0), 3);
}

TEST(ListOpsFile, CutsOrRefusesWhatIsTooLong) {
  const std::string rows = "[MIN 3 4 ]\t3\n[MIN 3 4 5 ]\t3\n[MAX 1 2 ]\t2\n";
  const auto cut = listops_of("Source\tTarget\n" + rows, {.max_length = 4});
  EXPECT_EQ(cut->size(), 3);
  EXPECT_EQ(cut->counts().truncated, 1);
  EXPECT_EQ(cut->length(1), 4);
  EXPECT_EQ(cut->tokens(1)[3], kListOpsZero + 5);
  EXPECT_EQ(listops_complaint(rows, {.max_length = 4, .too_long = TooLong::refuse}),
            "a.tsv:3: the sequence has more than data.max_length = 4 tokens, which data.too_long = \"refuse\" does not "
            "allow");
}

TEST(ListOpsFile, RefusalsNameTheLine) {
  EXPECT_EQ(listops_complaint(""), "a.tsv: there are no samples");
  EXPECT_EQ(listops_complaint("[MIN 3 4 ]\t3\n[MIN 3 4\t3\n"), "a.tsv:3: 1 '[' is never closed");
  EXPECT_EQ(listops_complaint("[MIN 3 4 ]\t10\n"), "a.tsv:2: the label '10' must be a whole number from 0 to 9");
  EXPECT_EQ(listops_complaint("[MIN 3 4 ] 3\n"),
            "a.tsv:2: 1 column, but the line must have 2, with a tab between them");
}

TEST(ListOpsFolder, HoldsWhatWasAskedFor) {
  const test::TemporaryDirectory folder;
  ListOpsOptions options{.train = 600, .validation = 30, .test = 20, .depth = 4, .longer_than = 5, .shorter_than = 40};
  std::vector<int64_t> heard;
  const auto statistics = write_listops_folder(folder / "data", options, [&](int64_t done) { heard.push_back(done); });
  ASSERT_FALSE(heard.empty());
  EXPECT_TRUE(std::ranges::is_sorted(heard));
  EXPECT_EQ(heard.back(), 650);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "data"))
    names.push_back(entry.path().filename().string());
  EXPECT_EQ(names.size(), 3u);
  const auto read = [&](SequenceSplit split) { return read_listops_file(folder / "data", "basic", split, {}); };
  const auto train = read(SequenceSplit::train);
  EXPECT_EQ(train->size(), 600);
  EXPECT_EQ(read(SequenceSplit::validation)->size(), 30);
  EXPECT_EQ(read(SequenceSplit::test)->size(), 20);
  int64_t fives = 0;
  for (int64_t i = 0; i < train->size(); ++i) {
    EXPECT_EQ(evaluate_listops(train->tokens(i)), train->label(i));
    fives += train->label(i) == 5;
  }
  EXPECT_LE(fives, statistics.values[5]);

  options.threads = 2;
  write_listops_folder(folder / "again", options);
  for (const char* name : {"basic_train.tsv", "basic_val.tsv", "basic_test.tsv"})
    EXPECT_EQ(content_of(folder / "data" / name), content_of(folder / "again" / name)) << name;
}

TEST(ListOpsFolder, IsNotOverwrittenAndNotLeftHalfDone) {
  const test::TemporaryDirectory folder;
  const ListOpsOptions few{.train = 5, .validation = 5, .test = 5, .longer_than = 5, .shorter_than = 40};
  std::filesystem::create_directory(folder / "empty");
  write_listops_folder(folder / "empty", few);
  EXPECT_EQ(test::thrown_message<io::Error>([&] { write_listops_folder(folder / "empty", few); }),
            (folder / "empty").string() + ": exists already; choose another name, or remove it");
  EXPECT_THROW(write_listops_folder(folder / "new", few, [](int64_t) { throw std::runtime_error("stop"); }),
               std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing temporary is left";
}

}  // namespace
}  // namespace cachet::data
