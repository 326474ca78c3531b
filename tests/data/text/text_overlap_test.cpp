#include "cachet/data/text/text_overlap.h"

#include <gtest/gtest.h>

#include <array>
#include <span>

#include "cachet/data/text/sequences/open_sequences.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/io/error.h"
#include "tests/data/text/review_files.h"
#include "tests/data/vision/written_image_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

const std::string kComposed = "caf\u00e9 noir", kDecomposed = "cafe\u0301  noir ";

SplitOverlap overlap_of(const SequenceDatasetOptions& options, SequenceSplit split) {
  const auto open = [&](SequenceSplit of) { return open_sequence_dataset(options, of, ".", KeepOrigins::yes); };
  return sequence_overlap(*open(SequenceSplit::train), *open(split), to_string(split));
}

TEST(SequenceOverlap, ComparesReviewsAsNormalisedTexts) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 3, 2);
  test::write_text(root / "train/pos/7_1.txt", "\xEF\xBB\xBF" + kComposed);
  test::write_text(root / "test/neg/8_1.txt", kDecomposed);
  test::write_text(root / "test/pos/9_1.txt", kComposed + "\n");
  test::write_text(root / "train/neg/9_1.txt", " ");
  test::write_text(root / "test/neg/9_2.txt", "\n");
  const SplitOverlap found = overlap_of({.kind = &kImdb, .root = root.path()}, SequenceSplit::test);
  EXPECT_EQ(found.samples, 7);
  EXPECT_EQ(found.shared, 2) << "texts of blanks are equal to none";
  EXPECT_EQ(found.many, "sequences");
  EXPECT_EQ(found.evaluation, (root / "test/neg/8_1.txt").string());
  EXPECT_EQ(found.training, (root / "train/pos/7_1.txt").string());
}

TEST(SequenceOverlap, ComparesBothTextsOfAPair) {
  const test::TemporaryDirectory root;
  test::write_text(root / "p.train.tsv", "1\ta\tb\tone\ttwo\n0\ta\tc\tone\tthree\n");
  test::write_text(root / "p.eval.tsv", "1\td\te\tfour\tfive\n0\td\tb\tfour\t two\n1\tc\ta\tthree\tone\n");
  test::write_text(root / "p.test.tsv", "1\td\te\tfour\tfive\n");
  const SequenceDatasetOptions options{.kind = &kMatching, .root = root.path(), .files = "p"};
  const SplitOverlap found = overlap_of(options, SequenceSplit::validation);
  EXPECT_EQ(found.samples, 3);
  EXPECT_EQ(found.shared, 2);
  EXPECT_EQ(found.many, "pairs");
  EXPECT_EQ(found.split, "validation");
  EXPECT_EQ(found.evaluation, (root / "p.eval.tsv").string() + ":2");
  EXPECT_EQ(found.training, (root / "p.train.tsv").string() + ":1");
  EXPECT_EQ(overlap_of(options, SequenceSplit::test).shared, 0);
}

TEST(SequenceOverlap, ComparesWholeTextsOfCutSequences) {
  const test::TemporaryDirectory root;
  test::write_text(root / "basic_train.tsv", "Source\tTarget\n[MAX 1 2 3 ]\t3\n[MAX 1 2 4 ]\t4\n");
  test::write_text(root / "basic_val.tsv", "Source\tTarget\n[MAX 1 2 5 ]\t5\n[MAX 1 2 4 ]\t4\n");
  const SplitOverlap found = overlap_of({.kind = &kListOps, .root = root.path(), .files = "basic", .max_length = 3},
                                        SequenceSplit::validation);
  EXPECT_EQ(found.shared, 1) << "not by the tokens that are left";
  EXPECT_EQ(found.evaluation, (root / "basic_val.tsv").string() + ":3");
  EXPECT_EQ(found.training, (root / "basic_train.tsv").string() + ":3");
}

TEST(SequenceOverlap, ComparesAllGreyValuesOfCutImages) {
  const test::TemporaryDirectory root;
  const test::Bytes records = test::cifar_records(std::vector<test::Bytes>(10, {1}));
  const size_t record = records.size() / 10;
  for (size_t batch = 0; batch < 5; ++batch)
    test::write_bytes(root / ("data_batch_" + std::to_string(batch + 1) + ".bin"),
                      std::span(records).subspan(2 * batch * record, 2 * record));
  test::Bytes tested = test::cut(records, 2 * record);
  tested.back() ^= 0x80;  // the last pixel of the second image
  test::write_bytes(root / "test_batch.bin", tested);
  const SplitOverlap found =
      overlap_of({.kind = &kCifar10Pixels, .root = root.path(), .max_length = 100}, SequenceSplit::test);
  EXPECT_EQ(found.samples, 2);
  EXPECT_EQ(found.shared, 1);
  EXPECT_EQ(found.evaluation, "image 0");
  EXPECT_EQ(found.training, "image 0");
}

TEST(SequenceOverlap, OfAPartComparesThePart) {
  const test::TemporaryDirectory root;
  test::write_text(root / "basic_train.tsv", "Source\tTarget\n1\t1\n2\t2\n3\t3\n");
  test::write_text(root / "basic_val.tsv", "Source\tTarget\n1\t1\n2\t2\n3\t3\n");
  const SequenceDatasetOptions options{.kind = &kListOps, .root = root.path(), .files = "basic", .fraction = 0.34};
  EXPECT_EQ(overlap_of(options, SequenceSplit::validation).shared, 1);
}

TEST(SequenceOverlap, NamesAreOnlyThereIfTheyWereKept) {
  const test::TemporaryDirectory root;
  test::write_text(root / "basic_train.tsv", "Source\tTarget\n1\t1\n");
  const auto plain =
      open_sequence_dataset({.kind = &kListOps, .root = root.path(), .files = "basic"}, SequenceSplit::train, ".");
  EXPECT_THROW(plain->sample_name(0), std::logic_error);
  EXPECT_THROW(plain->split_keys(0), std::logic_error);
}

ParallelOptions pairs_in(const std::filesystem::path& root) { return {.root = root, .source = "de", .target = "en"}; }

TEST(ParallelOverlap, PairsShareASentenceOfEitherLanguage) {
  const test::TemporaryDirectory root;
  test::write_text(root / "train.de", "eins\nzwei\n" + kDecomposed + "\nrot\n\n");
  test::write_text(root / "train.en", "one\ntwo\ncoffee\nred\n\n");
  // Line 3 shares the translation, line 4 the source, and "two" of line 5 is an English sentence there alone.
  test::write_text(root / "valid.de", "vier\nfünf\nEINS\n" + kComposed + "\ntwo\n\n");
  test::write_text(root / "valid.en", "four\nfive\none\nblack coffee\nzwei\n\n");
  test::write_text(root / "test.de", "sechs\n");
  test::write_text(root / "test.en", "six\n");
  const std::array splits{SequenceSplit::validation, SequenceSplit::test};
  const auto found = parallel_overlaps(pairs_in(root.path()), splits);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].samples, 6);
  EXPECT_EQ(found[0].shared, 2);
  EXPECT_EQ(found[0].many, "pairs");
  EXPECT_EQ(found[0].evaluation, (root / "valid.de").string() + ":3");
  EXPECT_EQ(found[0].training, (root / "train.de").string() + ":1");
  EXPECT_EQ(found[1].split, "test");
  EXPECT_EQ(found[1].samples, 1);
  EXPECT_EQ(found[1].shared, 0);
}

TEST(ParallelOverlap, CountsThePairsThatTheOptionsKeep) {
  const test::TemporaryDirectory root;
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "sentence " + std::to_string(i) + "\n";
  for (const char* name : {"train.de", "train.en", "valid.de", "valid.en"}) test::write_text(root / name, lines);
  ParallelOptions options = pairs_in(root.path());
  const std::array splits{SequenceSplit::validation};
  EXPECT_EQ(parallel_overlaps(options, splits)[0].shared, 1000);
  options.limit = 7;
  EXPECT_EQ(parallel_overlaps(options, splits)[0].samples, 7);
  EXPECT_EQ(parallel_overlaps(options, splits)[0].shared, 7);
  options = pairs_in(root.path());
  options.fraction = 0.25;
  const int64_t shared = parallel_overlaps(options, splits)[0].shared;
  EXPECT_NEAR(static_cast<double>(shared), 250, 70);  // five deviations of a binomial
}

CorpusOptions corpus_in(const std::filesystem::path& root) { return {.root = root, .tokens = CorpusTokens::bytes}; }

TEST(CorpusOverlap, ComparesLinesThatAreNotShort) {
  const test::TemporaryDirectory root;
  const std::string line = "a line of forty characters or more is one sample of a text";
  std::string long_line;
  for (int64_t i = 0; i < kMinComparedCharacters; ++i) long_line += "ä";
  const std::string short_line = long_line.substr(2);  // one character less
  test::write_text(root / "train.txt", " = Heading = \n\n" + line + "\n" + short_line + "\n" + long_line + "\n");
  test::write_text(root / "valid.txt",
                   " = Heading = \n\n another " + line + "\n" + short_line + "\n" + line + "  \n" + long_line);
  const std::array splits{SequenceSplit::validation};
  const SplitOverlap found = corpus_overlaps(corpus_in(root.path()), splits)[0];
  EXPECT_EQ(found.samples, 3) << "neither headings nor blank lines";
  EXPECT_EQ(found.shared, 2);
  EXPECT_EQ(found.many, "lines");
  EXPECT_EQ(found.evaluation, (root / "valid.txt").string() + ":5");
  EXPECT_EQ(found.training, (root / "train.txt").string() + ":3");
}

TEST(CorpusOverlap, TextsThatAreMissingAreNamed) {
  const test::TemporaryDirectory root;
  test::write_text(root / "train.txt", "a text\n");
  const std::array splits{SequenceSplit::test};
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              corpus_overlaps(corpus_in(root.path()), splits);
            }).find("has no text for the split test"),
            std::string::npos);
}

TEST(PairKeys, TellTheSidesApart) {
  EXPECT_EQ(pair_keys("a", "a"), (std::array<std::string, 2>{"0a", "1a"}));
  EXPECT_EQ(pair_keys("", "b"), (std::array<std::string, 2>{"", "1b"}));
}

}  // namespace
}  // namespace cachet::data
