#include "cachet/data/text/sequences/matching.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cachet/data/text/sequences/matching_maker.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/error.h"
#include "tests/data/text/review_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::shared_ptr<const SequenceDataset> matching_of(const std::string& rows, const SequenceRules& rules = {}) {
  return read_matching(io::MemorySource(std::as_bytes(std::span(rows))), "pairs.tsv", ByteEncoder(), rules);
}

std::string matching_complaint(const std::string& rows, const SequenceRules& rules = {}) {
  return test::thrown_message<io::Error>([&] { matching_of(rows, rules); });
}

TEST(Matching, RowsArePairsWithoutHeaderAndQuoting) {
  const auto pairs = matching_of("1\tP1\tP2\tone \"quoted\tthree\n0.0\tP3\tP1\tb\tone \"quoted\n");
  ASSERT_EQ(pairs->size(), 2);
  EXPECT_TRUE(pairs->has_pairs());
  EXPECT_EQ(pairs->label(0), 1);
  EXPECT_EQ(pairs->label(1), 0);
  EXPECT_EQ(pairs->tokens(0).size(), 11u);
  EXPECT_EQ(pairs->tokens(0)[0], 'o' + 1);
  EXPECT_EQ(pairs->second(0).size(), 5u);
  EXPECT_EQ(pairs->tokens(0).data(), pairs->second(1).data()) << "equal texts are held once";
  EXPECT_EQ(pairs->class_names(), (std::vector<std::string>{"different", "matching"}));
}

TEST(Matching, LongTextsAreCutAndCountedOnce) {
  const auto pairs = matching_of("1\ta\tb\tlong text\tx\n0\ta\tc\tlong text\ty\n", {.max_length = 4});
  EXPECT_EQ(pairs->length(0), 4);
  EXPECT_EQ(pairs->counts().truncated, 1);
  const auto others =
      matching_of("1\ta\tb\tlong text\tx\n0\ta\tc\tlong text\tlonger\n0\ta\tc\tz\ty\n", {.max_length = 4});
  EXPECT_EQ(others->counts().truncated, 2);
  EXPECT_EQ(others->subset({0, 1})->counts().truncated, 2);
  EXPECT_EQ(others->subset({0, 2})->counts().truncated, 1) << "of those that are kept";
  EXPECT_EQ(others->subset({2})->counts().truncated, 0);
}

TEST(Matching, EmptyTextsAreRefusedOrSkipped) {
  const std::string rows = "1\ta\tb\tx\ty\n0\ta\tc\t\ty\n1\ta\tc\tx\t\n";
  EXPECT_EQ(matching_complaint(rows), "pairs.tsv:2: the text is empty; remove it, or set data.empty_texts = \"skip\"");
  const auto pairs = matching_of(rows, {.empty_texts = EmptyText::skip});
  EXPECT_EQ(pairs->size(), 1);
  EXPECT_EQ(pairs->counts().skipped, 2);
}

TEST(Matching, RefusalsNameTheLine) {
  EXPECT_EQ(matching_complaint(""), "pairs.tsv: there are no samples");
  EXPECT_EQ(matching_complaint("1\ta\tb\tx\n"),
            "pairs.tsv:1: 4 columns, but the line must have 5, with a tab between them");
  EXPECT_EQ(matching_complaint("1\ta\tb\tx\ty\n2\ta\tb\tx\ty\n"),
            "pairs.tsv:2: the label '2' must be a whole number from 0 to 1");
  EXPECT_EQ(matching_complaint("1\ta\tb\tlong text\tx\n", {.max_length = 4, .too_long = TooLong::refuse}),
            "pairs.tsv:1: the sequence has more than data.max_length = 4 tokens, which data.too_long = \"refuse\" does "
            "not allow");
}

// What a file of a made matching task holds.
struct MatchingRows {
  std::map<std::string, std::set<std::string>> labels_of_half;  // by a half's text
  std::set<std::string> reviews;
  std::map<std::string, int> labels;
  std::string text;
};

MatchingRows rows_of_file(const std::filesystem::path& path) {
  MatchingRows rows;
  read_tsv(io::FileSource(path), path.string(), {.header = {}, .columns = 5}, [&](auto fields) {
    const std::string label(fields[0]), first(fields[1]), second(fields[2]);
    const auto review = [](const std::string& id) { return id.substr(0, id.find('#')); };
    EXPECT_EQ(review(first) == review(second), label == "1") << first << ' ' << second;
    ++rows.labels[label];
    rows.labels_of_half[std::string(fields[3])].insert(label);
    rows.labels_of_half[std::string(fields[4])].insert(label);
    rows.reviews.insert({review(first), review(second)});
  });
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  rows.text = text.str();
  return rows;
}

TEST(MatchingMaker, MakesBalancedPairsAndKeepsSplitsApart) {
  const test::TemporaryDirectory folder;
  test::write_reviews(folder / "imdb", 20, 5);
  const auto counts = write_matching_folder(folder / "imdb", folder / "pairs", {.seed = 3});
  EXPECT_EQ(counts.train, 72);
  EXPECT_EQ(counts.evaluation, 8);
  EXPECT_EQ(counts.test, 20);
  EXPECT_EQ(counts.left_out, 0);
  const auto train = rows_of_file(folder / "pairs/imdb_pairs.train.tsv");
  const auto evaluation = rows_of_file(folder / "pairs/imdb_pairs.eval.tsv");
  const auto test = rows_of_file(folder / "pairs/imdb_pairs.test.tsv");
  for (const auto* rows : {&train, &evaluation, &test}) {
    EXPECT_EQ(rows->labels.at("0"), rows->labels.at("1"));
    for (const auto& [half, labels] : rows->labels_of_half)
      EXPECT_EQ(labels.size(), 2u) << half << " alone tells the label";
  }
  std::set<std::string> all = train.reviews;
  all.insert(evaluation.reviews.begin(), evaluation.reviews.end());
  EXPECT_EQ(all.size(), 40u) << "train and evaluation share no review";
  for (const std::string& review : test.reviews) EXPECT_TRUE(review.starts_with("test/")) << review;
  EXPECT_TRUE(train.labels_of_half.contains("is trainneg0<br />") ||
              train.labels_of_half.contains("is trainpos0<br />"))
      << "halves are cut at the space nearest the middle, tabs made spaces";

  write_matching_folder(folder / "imdb", folder / "again", {.seed = 3});
  EXPECT_EQ(rows_of_file(folder / "again/imdb_pairs.train.tsv").text, train.text);
  write_matching_folder(folder / "imdb", folder / "other", {.seed = 4});
  EXPECT_NE(rows_of_file(folder / "other/imdb_pairs.train.tsv").text, train.text);
  const auto read = read_matching_file(folder / "pairs", "imdb_pairs", SequenceSplit::validation, ByteEncoder(), {});
  EXPECT_EQ(read->size(), 8);
}

TEST(MatchingMaker, ATextServesOnce) {
  const test::TemporaryDirectory folder;
  test::write_reviews(folder / "imdb", 20, 5);
  const std::string text = "\u00dcber all this film says twice what it says";
  for (const char* file : {"train/pos/90_7.txt", "train/neg/91_3.txt", "train/neg/92_3.txt", "test/pos/93_7.txt"})
    test::write_text(folder / "imdb" / file, text);
  // The same in another spelling and with other blanks.
  test::write_text(folder / "imdb/test/neg/94_2.txt", "U\u0308ber  all this film says\ttwice what it says\n");
  const auto counts = write_matching_folder(folder / "imdb", folder / "pairs", {});
  EXPECT_EQ(counts.repeated, 4);
  EXPECT_EQ(counts.train + counts.evaluation, 82);
  EXPECT_EQ(counts.test, 20) << "a training review has the text, so no test review may have it";
  for (const char* name : {"train", "eval"}) {
    std::map<std::string, std::string> label_of;
    read_tsv(io::FileSource(folder / "pairs" / ("imdb_pairs." + std::string(name) + ".tsv")), "pairs",
             {.header = {}, .columns = 5}, [&](auto fields) {
               const std::string pair = std::string(fields[3]) + '\t' + std::string(fields[4]);
               EXPECT_TRUE(label_of.emplace(pair, fields[0]).second) << "two labels for " << pair;
             });
  }
}

TEST(MatchingMaker, LengthsOfHalvesTellNoLabel) {
  const test::TemporaryDirectory folder;
  test::write_reviews(folder / "imdb", 20, 5);
  for (int review = 0; review < 200; ++review) {
    std::string text;
    for (int word = 0; word < 5 + review % 40; ++word) text += std::to_string(1000 + word * review % 1000) + " ";
    test::write_text(folder / "imdb/train/pos" / (std::to_string(review) + "_7.txt"), text);
  }
  write_matching_folder(folder / "imdb", folder / "pairs", {});
  std::vector<std::pair<int64_t, bool>> apart;  // by how many bytes the halves differ, and whether they match
  read_tsv(io::FileSource(folder / "pairs/imdb_pairs.train.tsv"), "pairs", {.header = {}, .columns = 5},
           [&](auto fields) {
             apart.emplace_back(std::abs(std::ssize(fields[3]) - std::ssize(fields[4])), fields[0] == "1");
           });
  for (const int64_t most : {0, 1, 2, 4, 8, 16, 32}) {
    const auto right =
        std::ranges::count_if(apart, [&](const auto& pair) { return (pair.first <= most) == pair.second; });
    EXPECT_LT(static_cast<double>(right) / static_cast<double>(apart.size()), 0.56)
        << "matching where " << most << " apart";
  }
}

TEST(MatchingMaker, LeavesOutWhatCannotBeCut) {
  const test::TemporaryDirectory folder;
  test::write_reviews(folder / "imdb", 20, 5);
  test::write_text(folder / "imdb/train/pos/0_7.txt", "  word\n");
  test::write_text(folder / "imdb/test/pos/0_7.txt", "");
  const auto counts = write_matching_folder(folder / "imdb", folder / "pairs", {});
  EXPECT_EQ(counts.left_out, 2);
  EXPECT_EQ(counts.train + counts.evaluation, 78);
  EXPECT_THROW(write_matching_folder(folder / "imdb", folder / "pairs", {}), io::Error) << "it exists";
  EXPECT_THROW(write_matching_folder(folder / "imdb", folder / "more", {.evaluation_fraction = 1}),
               std::invalid_argument);
  EXPECT_THROW(write_matching_folder(folder / "imdb", folder / "more", {.evaluation_fraction = 0.01}), io::Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "more"));
}

}  // namespace
}  // namespace cachet::data
