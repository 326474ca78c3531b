#include "cachet/data/text/parallel/parallel_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "cachet/data/text/split_key.h"
#include "cachet/io/error.h"
#include "tests/data/text/review_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// 100 English sentences with 1 … 3 translations each, an empty row and a repeated one.
std::string pairs_table() {
  std::string table = "first\t\n";
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j <= i % 3; ++j) table += "e" + std::to_string(i) + "\td" + std::to_string(i * 10 + j) + "\n";
  return table + "e7\td70\n";
}

// Rows are drawn: what stands before the first would come to stand within a file.
TEST(PairSplit, LeavesOutAByteOrderMark) {
  const test::TemporaryDirectory folder;
  std::string table;
  for (int i = 0; i < 40; ++i) table += "e" + std::to_string(i) + "\td" + std::to_string(i) + "\n";
  test::write_text(folder / "plain.tsv", table);
  test::write_text(folder / "marked.tsv", "\xEF\xBB\xBF" + table);
  const PairSplitOptions options{.columns = {"en", "de"}, .held_out = 5};
  EXPECT_FALSE(write_pair_folder(folder / "plain.tsv", folder / "plain", options).byte_order_mark);
  EXPECT_TRUE(write_pair_folder(folder / "marked.tsv", folder / "marked", options).byte_order_mark);
  for (const char* name : {"train.en", "train.de", "valid.en", "test.en"})
    EXPECT_EQ(lines_of(folder / "marked" / name), lines_of(folder / "plain" / name)) << name;
}

TEST(PairSplit, NoSentenceIsInTwoSplits) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "all.tsv", pairs_table());
  const PairSplitOptions options{.columns = {"en", "de"}, .held_out = 10, .seed = 5};
  const PairSplitCounts counts = write_pair_folder(folder / "all.tsv", folder / "out", options);
  EXPECT_EQ(counts.sentences, 100);
  EXPECT_EQ(counts.empty, 1);
  EXPECT_EQ(counts.repeated, 1);
  EXPECT_EQ(counts.train + counts.validation + counts.test, 199);
  std::map<std::string, std::string> split_of;
  std::set<std::string> pairs;
  for (const std::string split : {"train", "valid", "test"}) {
    const auto english = lines_of(folder / ("out/" + split + ".en")),
               german = lines_of(folder / ("out/" + split + ".de"));
    ASSERT_EQ(english.size(), german.size());
    EXPECT_EQ(static_cast<int64_t>(english.size()), split == "train"   ? counts.train
                                                    : split == "valid" ? counts.validation
                                                                       : counts.test);
    EXPECT_FALSE(std::ranges::is_sorted(german)) << "in random order";
    for (size_t i = 0; i < english.size(); ++i) {
      EXPECT_EQ(split_of.emplace(english[i], split).first->second, split);
      EXPECT_EQ(std::stoi(german[i].substr(1)) / 10, std::stoi(english[i].substr(1))) << "the translation beside it";
      pairs.insert(german[i]);
    }
    if (split != "train") {
      EXPECT_EQ(std::set<std::string>(english.begin(), english.end()).size(), 10u);
    }
  }
  EXPECT_EQ(pairs.size(), 199u);
  EXPECT_TRUE(is_pair_folder(folder / "out", {"en", "de"}));
  EXPECT_FALSE(is_pair_folder(folder / "out", {"en", "fr"}));
  EXPECT_FALSE(is_pair_folder(folder.path(), {"en", "de"}));
}

// A pair links others by either side, whatever the spelling.
TEST(PairSplit, PairsThatShareASentenceStayTogether) {
  const test::TemporaryDirectory folder;
  std::string table;
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    table += "e" + n + "\tGr\u00fc\u00dfe " + n + "\n";
    table += "f" + n + "\tGru\u0308\u00dfe  " + n + " \n";  // decomposed, and with other blanks
    table += "\u00a0f" + n + "\tx" + n + "\n";
  }
  table += "e0\tGr\u00fc\u00dfe 1\n";  // links two groups
  test::write_text(folder / "all.tsv", table);
  for (const std::string by : {"en", "de"}) {
    const PairSplitCounts counts =
        write_pair_folder(folder / "all.tsv", folder / by, {.columns = {"en", "de"}, .by = by, .held_out = 20});
    EXPECT_EQ(counts.groups, 199);
    EXPECT_EQ(counts.largest_group, 7);
    EXPECT_EQ(counts.sentences, 400);
    for (const char* language : {"en", "de"}) {
      std::map<std::string, std::string> split_of;
      for (const std::string split : {"train", "valid", "test"})
        for (const std::string& line : lines_of(folder / by / (split + "." + language)))
          EXPECT_EQ(split_of.emplace(split_key(line), split).first->second, split) << line;
      EXPECT_EQ(split_of.size(), 400U);
    }
  }
}

TEST(PairSplit, IsAFunctionOfTheSeed) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "all.tsv", pairs_table());
  PairSplitOptions options{.columns = {"en", "de"}, .by = "de", .held_out = 10};
  write_pair_folder(folder / "all.tsv", folder / "a", options);
  write_pair_folder(folder / "all.tsv", folder / "b", options);
  options.seed = 1;
  write_pair_folder(folder / "all.tsv", folder / "c", options);
  EXPECT_EQ(lines_of(folder / "a/train.de"), lines_of(folder / "b/train.de"));
  EXPECT_NE(lines_of(folder / "a/train.de"), lines_of(folder / "c/train.de"));
  EXPECT_EQ(lines_of(folder / "a/test.de").size(), 10u) << "each German sentence stands there once";
}

TEST(PairSplit, SaysWhatIsWrong) {
  const test::TemporaryDirectory folder;
  test::write_text(folder / "all.tsv", pairs_table());
  const auto refusal = [&](const PairSplitOptions& options, const char* file = "all.tsv") {
    try {
      write_pair_folder(folder / file, folder / "out", options);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("(nothing thrown)");
  };
  EXPECT_EQ(refusal({.columns = {"en", "de"}, .held_out = 50}),
            (folder / "all.tsv").string() +
                ": has 100 different sentences of en in 100 groups that share no sentence. These are too few for two "
                "held-out splits; the number of sentences in each must be at least 50");
  EXPECT_EQ(refusal({.columns = {"en", "en"}}),
            "exactly two columns must have a language, and the two languages must differ");
  EXPECT_EQ(refusal({.columns = {"en", "de", "fr"}}),
            "exactly two columns must have a language, and the two languages must differ");
  EXPECT_EQ(refusal({.columns = {"en", "de"}, .by = "fr"}), "no column has the language fr");
  EXPECT_EQ(refusal({.columns = {"en", "a/b"}}),
            "a language must be the ending of a file name, without \"/\", but is 'a/b'");
  EXPECT_EQ(refusal({.columns = {"en", "de"}, .held_out = 0}), "the number of held-out sentences must be at least 1");
  EXPECT_NE(refusal({.columns = {"en", "de", "-"}}).find("all.tsv:1: 2 columns, but the line must have 3"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  EXPECT_EQ(refusal({.columns = {"en", "de"}, .held_out = 49}), "(nothing thrown)");
  EXPECT_NE(refusal({.columns = {"en", "de"}, .held_out = 49}).find("exists already"), std::string::npos);
}

}  // namespace
}  // namespace cachet::data
