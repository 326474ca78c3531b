#include "cachet/data/text/parallel/parallel_corpus.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "cachet/io/error.h"
#include "tests/data/text/parallel_texts.h"
#include "tests/support/packed_bytes.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

using test::kA, test::kB, test::kC, test::kD, test::kUnk;
using Tokens = std::vector<Token>;

std::span<const uint8_t> octets_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string complaint(const test::ParallelFolder& texts, SequenceSplit split = SequenceSplit::train) {
  return test::thrown_message<io::Error>([&] { texts.open(split); });
}

TEST(ParallelCorpus, ReadsTwoFilesLineByLine) {
  test::ParallelFolder texts;
  texts.write("train.de", "a b\nc\nd x a\r\n");
  test::write_bytes(texts.folder / "train.en.gz", test::gzip(octets_of("b\nc d\na")));
  const auto corpus = texts.open();
  ASSERT_EQ(corpus->size(), 3);
  EXPECT_EQ(corpus->tokens(ParallelSide::source, 2), (Tokens{kD, kUnk, kA}));
  EXPECT_EQ(corpus->tokens(ParallelSide::target, 1), (Tokens{kC, kD}));
  EXPECT_EQ(corpus->length(ParallelSide::target, 0), 1);
  EXPECT_EQ(corpus->counts(), (PairCounts{.read = 3, .tokens = {6, 4}, .unknown = {1, 0}}));
  EXPECT_TRUE(corpus->texts(ParallelSide::source).empty());
  EXPECT_EQ(corpus->notes("train"), std::vector<std::string>{"train: 3 pairs of " + texts.path("train.de") +
                                                             " and train.en.gz; de 6 tokens (1 unknown), en 4 tokens"});
  EXPECT_THROW(corpus->tokens(ParallelSide::source, 3), std::out_of_range);
}

TEST(ParallelCorpus, TrainsOnPairsThatTheRulesKeep) {
  test::ParallelFolder texts;
  texts.options.rules = {.max_length = 4, .max_ratio = 2};
  texts.write("train.de", "a\n\na b c d a\na b\na b c\n");
  texts.write("train.en", "b\nb\na\na b c d\na\n");
  const auto corpus = texts.open();
  EXPECT_EQ(corpus->size(), 2);
  EXPECT_EQ(corpus->tokens(ParallelSide::target, 1), (Tokens{kA, kB, kC, kD}));
  EXPECT_EQ(corpus->counts(), (PairCounts{.read = 5, .empty = 1, .too_long = 1, .unbalanced = 1, .tokens = {3, 5}}));
  EXPECT_EQ(
      corpus->notes("train").at(1),
      "train: 3 pairs of 5 left out: 1 with an empty side, 1 longer than data.max_length, 1 above data.max_ratio");
  texts.write("train.de", "\n\n");
  texts.write("train.en", "a\nb\n");
  EXPECT_NE(complaint(texts).find(
                "train.de and train.en: none of 2 pairs can be used: each pair has an empty side, more than "
                "data.max_length = "),
            std::string::npos);
}

TEST(ParallelCorpus, EvaluatesOnAllPairsInTheirOrder) {
  test::ParallelFolder texts;
  texts.options.rules = {.max_length = 2, .max_ratio = 1};
  texts.write("val.de",
              "\xEF\xBB\xBF"
              "a\n\na b c d a\nx\t\x01y\n");
  texts.write("val.en", "b\nb\na\n\xFF\n");
  const auto corpus = texts.open(SequenceSplit::validation);
  ASSERT_EQ(corpus->size(), 4);
  EXPECT_EQ(corpus->length(ParallelSide::source, 1), 0);
  EXPECT_EQ(corpus->tokens(ParallelSide::source, 2), (Tokens{kA, kB}));
  EXPECT_EQ(corpus->texts(ParallelSide::source), (std::vector<std::string>{"\xEF\xBB\xBF"
                                                                           "a",
                                                                           "", "a b c d a", "x\t\x01y"}));
  EXPECT_EQ(corpus->texts(ParallelSide::target).at(3), "\xFF") << "references are what lies in the file";
  EXPECT_EQ(corpus->counts().cut, 1);
  const auto notes = corpus->notes("validation");
  EXPECT_EQ(notes.at(1), "validation: 1 sentence truncated to data.max_length, 2 tokens");
  EXPECT_EQ(notes.at(2), "validation: de: the text begins with a byte-order mark, which is not removed");
}

TEST(ParallelCorpus, ReadsColumnsOfATable) {
  test::ParallelFolder texts;
  texts.options.columns = {"en", "-", "de"};
  test::write_bytes(texts.folder / "train.tsv.xz", test::xz(octets_of("a b\tCC-BY\tc\nd\t\ta a\n")));
  const auto corpus = texts.open();
  EXPECT_EQ(corpus->tokens(ParallelSide::source, 0), Tokens{kC});
  EXPECT_EQ(corpus->tokens(ParallelSide::target, 0), (Tokens{kA, kB}));
  EXPECT_EQ(corpus->tokens(ParallelSide::source, 1), (Tokens{kA, kA}));
  texts.options.columns = {};
  EXPECT_NE(
      complaint(texts).find("train.tsv: set data.columns to the languages of its columns, such as [\"de\", \"en\"]"),
      std::string::npos);
  texts.options.columns = {"en", "de"};
  EXPECT_NE(complaint(texts).find("train.tsv.xz:1: 3 columns, but the line must have 2"), std::string::npos);
  texts.options.columns = {"en", "fr"};
  EXPECT_THROW(texts.open(), std::invalid_argument);
}

TEST(ParallelCorpus, ReadsSeveralFilesOneBehindTheOther) {
  test::ParallelFolder texts;
  texts.options.train = {"news", "talks"};
  texts.write("news.de", "a\nb\n");
  texts.write("news.en", "c\nd\n");
  texts.write("talks.de", "c\n");
  texts.write("talks.en", "a\n");
  const auto corpus = texts.open();
  EXPECT_EQ(corpus->size(), 3);
  EXPECT_EQ(corpus->tokens(ParallelSide::target, 2), Tokens{kA});
  EXPECT_NE(corpus->notes("train").at(0).find("news.de and news.en and 1 other pair of files;"), std::string::npos);
  const std::string whole = corpus->fingerprint();
  texts.options.limit = 2;
  EXPECT_EQ(texts.open()->size(), 2);
  EXPECT_NE(texts.open()->fingerprint(), whole);
  texts.options.limit = 3;
  EXPECT_EQ(texts.open()->fingerprint(), whole);
}

TEST(ParallelCorpus, HasADigestOfEachPair) {
  test::ParallelFolder texts;
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "a b c\n";
  texts.write("train.de", lines);
  texts.write("train.en", lines);
  const auto whole = texts.open();
  lines[8] = 'c';  // of the second pair, which version 0.1.0 passed over
  texts.write("train.en", lines);
  const auto other = texts.open();
  EXPECT_EQ(other->fingerprint(), whole->fingerprint());
  EXPECT_EQ(change_of(whole->digest(), other->digest()), DataChange::contents);
  EXPECT_NE(other->sample_digest(1), whole->sample_digest(1));
  EXPECT_EQ(other->sample_digest(0), whole->sample_digest(0));
  for (const char* name : {"train.de", "train.en"}) texts.write(name, "a b\nc x\n");
  const auto known = texts.open();
  for (const char* name : {"train.de", "train.en"}) texts.write(name, "a b\nc y\n");
  EXPECT_EQ(texts.open()->digest().contents, known->digest().contents) << "both words are unknown";
  EXPECT_EQ(change_of(known->digest(), texts.open()->digest()), DataChange::contents) << "and another text";
}

TEST(ParallelCorpus, KeepsAShareOfTheTrainingPairs) {
  test::ParallelFolder texts;
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += i % 3 == 0 ? "a\n" : i % 3 == 1 ? "b\n" : "a b\n";
  for (const char* name : {"train.de", "train.en", "valid.de", "valid.en"}) texts.write(name, lines);
  const auto kept = [&](double fraction, uint64_t seed) {
    texts.options.fraction = fraction;
    texts.options.subset_seed = seed;
    return texts.open();
  };
  const auto some = kept(0.25, 0), more = kept(0.5, 0);
  EXPECT_NEAR(static_cast<double>(some->size()), 100, 30);
  EXPECT_NEAR(static_cast<double>(more->size()), 200, 30);
  EXPECT_EQ(kept(0.25, 0)->fingerprint(), some->fingerprint());
  EXPECT_NE(kept(0.25, 1)->fingerprint(), some->fingerprint());
  EXPECT_EQ(kept(1, 0)->size(), 400);
  // The smaller share is part of the larger one, in its order.
  int64_t place = 0;
  for (int64_t pair = 0; pair < some->size(); ++pair, ++place)
    while (place < more->size() &&
           more->tokens(ParallelSide::source, place) != some->tokens(ParallelSide::source, pair))
      ++place;
  EXPECT_LE(place, more->size());
  texts.options.fraction = 0.25;
  EXPECT_EQ(texts.open(SequenceSplit::validation)->size(), 400);
}

TEST(ParallelCorpus, SaysWhatIsWrongWithFiles) {
  test::ParallelFolder texts;
  EXPECT_EQ(complaint(texts),
            texts.folder.path().string() +
                ": has no pairs for the split train: neither train.de and train.en nor train.tsv (plain, .gz or .xz). "
                "If the files have other names, set data.train; see data.root, data.source and data.target");
  texts.write("train.de", "a\nb\nc\n");
  EXPECT_EQ(complaint(texts), "there is no train.en (plain, .gz or .xz) in " + texts.folder.path().string() +
                                  "; see data.root, data.train, data.source and data.target");
  texts.write("train.en", "a\nb\n");
  EXPECT_EQ(complaint(texts), texts.path("train.en") + ": has 2 lines, but " + texts.path("train.de") +
                                  " has more: its line 3 has no translation");
  texts.write("train.en", "a\nb\nc\nd");
  EXPECT_EQ(complaint(texts), texts.path("train.de") + ": has 3 lines, but " + texts.path("train.en") +
                                  " has more: its line 4 has no translation");
  texts.write("train.en", "");
  texts.write("train.de", "");
  EXPECT_EQ(complaint(texts), texts.path("train.de") + ": is empty, and so is " + texts.path("train.en"));
  texts.write("train.de", "a\n" + std::string((1 << 24) + 1, 'a') + "\n");
  texts.write("train.en", "a\na\n");
  EXPECT_EQ(complaint(texts), texts.path("train.de") + ":2: the line is longer than 16777216 bytes");
  texts.options.root = "nowhere";
  EXPECT_NE(test::thrown_message<io::Error>([&] { find_parallel_root(texts.options, texts.folder.path()); })
                .find("it should contain train.de and train.en, valid.de and valid.en, test.de and test.en (plain, .gz "
                      "or .xz), or .tsv files with both languages, and words.txt"),
            std::string::npos);
}

TEST(ParallelCorpus, LeavesOutALineOfTenMegabytes) {
  test::ParallelFolder texts;
  std::string line;
  while (line.size() < 10'000'000) line += "a b ";
  texts.write("train.de", "a\n" + line + "\nb\n");
  texts.write("train.en", "a\na\nb\n");
  const auto corpus = texts.open();
  EXPECT_EQ(corpus->size(), 2);
  EXPECT_EQ(corpus->counts().too_long, 1);
}

TEST(ParallelCorpus, FilesOfTokensGiveTheSamePairs) {
  test::ParallelFolder texts;
  texts.options.train = {"news", "talks"};
  texts.options.rules.max_length = 3;
  texts.write("news.de", "a\n\nb c\na b c d\n");
  texts.write("news.en", "c\na\nd <eos>\na\n");
  texts.write("talks.de", "c x\n");
  texts.write("talks.en", "a\n");
  const auto of_texts = texts.open();
  const auto files = find_parallel_files(texts.options, SequenceSplit::train, texts.folder.path());
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_TRUE(find_parallel_token_files(texts.options, texts.folder.path()).empty()) << "not of all files";
    const ParallelFiles into{texts.folder / parallel_token_file_name(texts.options.train[i], "de"),
                             texts.folder / parallel_token_file_name(texts.options.train[i], "en")};
    const ParallelTokenFiles written = write_parallel_token_files(files[i], texts.options, texts.encoders(), into);
    EXPECT_EQ(written.pairs, i == 0 ? 4 : 1);
    EXPECT_EQ(written.source_facts.tokens, i == 0 ? 11 : 3);
  }
  ASSERT_EQ(find_parallel_token_files(texts.options, texts.folder.path()).size(), 2u);
  std::filesystem::remove(texts.folder / "news.de");  // not needed any more
  const auto of_tokens = texts.open();
  EXPECT_EQ(of_tokens->fingerprint(), of_texts->fingerprint());
  EXPECT_EQ(of_tokens->digest().contents, of_texts->digest().contents);
  EXPECT_EQ(change_of(of_texts->digest(), of_tokens->digest()), DataChange::none);
  EXPECT_FALSE(of_texts->digest().texts.empty());
  EXPECT_TRUE(of_tokens->digest().texts.empty());
  for (int64_t i = 0; i < of_texts->size(); ++i) EXPECT_EQ(of_tokens->sample_digest(i), of_texts->sample_digest(i));
  EXPECT_NE(of_tokens->sample_digest(0), of_tokens->sample_digest(1));
  EXPECT_EQ(of_tokens->counts().left_out(), of_texts->counts().left_out());
  EXPECT_EQ(of_tokens->counts().tokens, of_texts->counts().tokens);
  for (int64_t i = 0; i < of_texts->size(); ++i)
    for (const ParallelSide side : {ParallelSide::source, ParallelSide::target}) {
      EXPECT_EQ(of_tokens->tokens(side, i), of_texts->tokens(side, i));
      EXPECT_EQ(of_tokens->length(side, i), of_texts->length(side, i));
    }
}

TEST(ParallelCorpus, RefusesFilesOfTokensThatDoNotBelongTogether) {
  test::ParallelFolder texts;
  const auto write = [&](const char* language, const Tokens& tokens, int64_t vocabulary = 6) {
    Vocabulary known = texts.encoders().source.texts->vocabulary();
    known.size = vocabulary;
    TokenFileWriter writer(texts.folder / parallel_token_file_name("train", language), known);
    writer.add(tokens);
    writer.finish();
  };
  write("de", {kA, 0, kB, 0});
  write("en", {kA, 0});
  EXPECT_NE(complaint(texts).find("has 2 sentences, but " + texts.path("train.en.tokens-cachet") +
                                  " has 1; both files must have the same number of sentences"),
            std::string::npos);
  write("en", {kA, 0, kB});
  EXPECT_NE(complaint(texts).find("its last sentence has no end"), std::string::npos);
  write("en", {kA, 0, kB, 0}, 7);
  EXPECT_NE(complaint(texts).find("its tokens belong to another vocabulary, which has 7 tokens"), std::string::npos);
  std::ofstream(texts.folder / "train.en.tokens-cachet") << "CACHTOK1";
  EXPECT_NE(complaint(texts).find("the file ends within its header"), std::string::npos);
}

}  // namespace
}  // namespace cachet::data
