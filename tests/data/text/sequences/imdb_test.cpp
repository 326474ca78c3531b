#include "cachet/data/text/sequences/imdb.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "tests/data/text/review_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::string text_of(TokenView tokens) {
  std::string text;
  for (const Token token : tokens) text += static_cast<char>(token - 1);
  return text;
}

TEST(Bytes, AreTheirValuesPlusOne) {
  const ByteEncoder encoder;
  EXPECT_EQ(encoder.encode(std::string("\0a\xff", 3), 10).tokens, (std::vector<Token>{1, 98, 256}));
  EXPECT_EQ(encoder.encode("abcdef", 3).tokens.size(), 4u) << "one more tells that there are more";
  EXPECT_EQ(encoder.encode("\xc3(", 10).replaced, 0) << "bytes are bytes";
  EXPECT_EQ(encoder.vocabulary().size, 257);
}

TEST(Imdb, ReviewsAreBytesByLabelAndName) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 12, 1);
  test::write_text(root / "train/pos/urls.md", "not a review");
  test::write_text(root / "train/neg/10_1.txt", "caf\xc3\xa9 \xff");
  const auto reviews = read_imdb(root.path(), "train", ByteEncoder(), {.max_length = 30});
  ASSERT_EQ(reviews->size(), 25);
  EXPECT_EQ(reviews->class_names(), (std::vector<std::string>{"negative", "positive"}));
  EXPECT_EQ(reviews->label(12), 0);
  EXPECT_EQ(reviews->label(13), 1);
  EXPECT_EQ(text_of(reviews->tokens(0)), "the trainneg0 film is\ttrainneg") << "cut behind 30 bytes";
  EXPECT_EQ(text_of(reviews->tokens(1)), "caf\xc3\xa9 \xff") << "10_1 comes behind 0_7";
  EXPECT_EQ(reviews->counts().truncated, 24);
  EXPECT_EQ(read_imdb(root.path(), "test", ByteEncoder(), {})->size(), 2);
}

TEST(Imdb, ReviewsEndInTxtInAnyCaseAndAreNotHidden) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 2, 1);
  test::write_text(root / "train/neg/0_5.TXT", "first");
  for (const char* hidden : {"train/neg/._0_5.TXT", "train/neg/.DS_Store", "train/pos/.trash/1_1.txt"})
    test::write_text(root / hidden, "no review");
  test::write_text(root / "train/pos/urls.md", "no review");
  test::write_text(root / "train/pos/Thumbs.db", "no review");
  const auto reviews = read_imdb(root.path(), "train", ByteEncoder(), {});
  ASSERT_EQ(reviews->size(), 5);
  EXPECT_EQ(text_of(reviews->tokens(0)), "first");
  EXPECT_EQ(describe(reviews->counts()),
            std::vector<std::string>{"5 files were skipped (3 hidden, 2 not .txt files). The first one is " +
                                     (root / "train/neg/.DS_Store").string()});
  EXPECT_EQ(find_reviews(root.path(), "train").reviews[0].id, "train/neg/0_5");
}

TEST(Imdb, EmptyReviewsAreRefusedOrSkipped) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 2, 1);
  test::write_text(root / "train/neg/1_7.txt", "");
  EXPECT_EQ(
      test::thrown_message<io::Error>([&] { read_imdb(root.path(), "train", ByteEncoder(), {}); }),
      (root / "train/neg/1_7.txt").string() + ": the text is empty; remove it, or set data.empty_texts = \"skip\"");
  const auto reviews = read_imdb(root.path(), "train", ByteEncoder(), {.empty_texts = EmptyText::skip});
  EXPECT_EQ(reviews->size(), 3);
  EXPECT_EQ(reviews->label(1), 1);
  EXPECT_EQ(reviews->counts().skipped, 1);
}

TEST(Imdb, NamesTheFileOrFolderThatIsWrong) {
  const test::TemporaryDirectory root;
  const auto complaint = [&](const SequenceRules& rules = {}) {
    return test::thrown_message<io::Error>([&] { read_imdb(root.path(), "train", ByteEncoder(), rules); });
  };
  EXPECT_EQ(complaint(), (root / "train/neg").string() +
                             ": there is no such folder; the reviews must be in the folders train and test, each with "
                             "folders neg and pos of .txt files");
  std::filesystem::create_directories(root / "train/neg");
  EXPECT_EQ(complaint(), (root / "train/neg").string() + ": holds no .txt files");
  test::write_reviews(root.path(), 1, 1);
  EXPECT_EQ(complaint({.max_length = 3, .too_long = TooLong::refuse})
                .substr(0, (root / "train/neg/0_7.txt").string().size() + 25),
            (root / "train/neg/0_7.txt").string() + ": the sequence has more t");
  test::write_text(root / "train/neg/0_7.txt", std::string(1'100'000, 'x'));
  EXPECT_NE(complaint().find("0_7.txt"), std::string::npos);
}

}  // namespace
}  // namespace cachet::data
