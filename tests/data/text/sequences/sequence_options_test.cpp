#include "cachet/data/text/sequences/sequence_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "cachet/data/text/listops/listops_file.h"
#include "cachet/data/text/sequences/matching_maker.h"
#include "cachet/data/text/sequences/open_sequences.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/data/text/text_overlap.h"
#include "cachet/io/error.h"
#include "tests/data/text/review_files.h"
#include "tests/data/vision/written_image_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

SequenceDatasetOptions sequence_options_of(const std::string& text) {
  auto document = config::Document::from_text("[data]\n" + text, "recipe.toml");
  const auto options = read_sequence_dataset_options(document.root().table("data"));
  document.finish();
  return options;
}

std::string sequence_problems(const std::string& text) {
  return test::thrown_message<config::Error>([&] { sequence_options_of(text); });
}

TEST(SequenceOptions, KindsHaveDefaultsOfTheirOwn) {
  const auto listops = sequence_options_of("root = \"x\"");
  EXPECT_EQ(listops.kind, &kListOps);
  EXPECT_EQ(listops.files, "basic");
  EXPECT_EQ(listops.max_length, 2000);
  const auto imdb = sequence_options_of("kind = \"imdb\"\nroot = \"x\"");
  EXPECT_EQ(imdb.max_length, 1000);
  EXPECT_EQ(imdb.validation_fraction, 0);
  const auto matching = sequence_options_of("kind = \"matching\"\nroot = \"x\"");
  EXPECT_EQ(matching.max_length, 4000);
  EXPECT_EQ(matching.files, "new_aan_pairs");
  const auto pixels = sequence_options_of("kind = \"cifar10_pixels\"\nroot = \"x\"");
  EXPECT_EQ(pixels.max_length, 1024);
  EXPECT_EQ(pixels.validation_fraction, 0.1);
  EXPECT_EQ(pixels.split_by, SplitBy::groups);
}

TEST(SequenceOptions, AreReadFromARecipe) {
  const auto options = sequence_options_of(
      "kind = \"imdb\"\nroot = \"r\"\nmax_length = 4000\ntoo_long = \"refuse\"\nempty_texts = \"skip\"\n"
      "tokens = \"subwords\"\nsubword_model = \"m\"\nvocabulary = 99\nvocabulary_hash = \"abc\"\n"
      "validation_fraction = 0.2\nsplit_by = \"samples\"\nfraction = 0.5\nlimit = 10\nsubset_seed = 4");
  EXPECT_EQ(options.root, "r");
  EXPECT_EQ(options.max_length, 4000);
  EXPECT_EQ(options.too_long, TooLong::refuse);
  EXPECT_EQ(options.text.empty_texts, EmptyText::skip);
  EXPECT_EQ(options.text.tokens, TokenKind::subwords);
  EXPECT_EQ(options.text.subword_model, "m");
  EXPECT_EQ(options.text.vocabulary, 99);
  EXPECT_EQ(options.text.vocabulary_hash, "abc");
  EXPECT_EQ(options.validation_fraction, 0.2);
  EXPECT_EQ(options.split_by, SplitBy::samples);
  EXPECT_EQ(options.fraction, 0.5);
  EXPECT_EQ(options.limit, 10);
  EXPECT_EQ(options.subset_seed, 4u);
  EXPECT_EQ(sequence_options_of("kind = \"matching\"\nroot = \"r\"\nfiles = \"imdb_pairs\"").files, "imdb_pairs");
}

TEST(SequenceOptions, NameTheKeyThatIsWrong) {
  EXPECT_NE(sequence_problems("").find("data.root"), std::string::npos);
  const std::string imdb = "kind = \"imdb\"\nroot = \"x\"\n";
  for (const std::string text :
       {"max_length = 0", "too_long = \"cut\"", "empty_texts = \"keep\"", "tokens = \"letters\"", "fraction = 0",
        "limit = -1", "validation_fraction = 1", "files = \"a\"", "vocabulary = 100", "subword_model = \"m\"",
        "vocabulary_hash = \"abc\"", "subset_seed = -1", "split_by = \"groups\""}) {
    const std::string said = sequence_problems(imdb + text);
    EXPECT_NE(said.find("recipe.toml:4"), std::string::npos) << said;
    EXPECT_NE(said.find("data." + text.substr(0, text.find(' '))), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), said.rfind('\n')) << "one line for one mistake: " << said;
  }
  EXPECT_NE(sequence_problems("root = \"x\"\nkind = \"listop\"").find("'listops'"), std::string::npos);
  EXPECT_NE(sequence_problems(imdb + "tokens = \"subwords\"").find("data.subword_model"), std::string::npos);
  EXPECT_NE(sequence_problems("root = \"x\"\nfiles = \"a/b\"").find("data.files"), std::string::npos);
  EXPECT_NE(sequence_problems("root = \"x\"\ntokens = \"bytes\"").find("data.tokens"), std::string::npos);
}

TEST(SequenceKinds, HaveWholeRecords) {
  for (const SequenceKind* kind : sequence_kinds()) {
    const std::string names = kind->class_names().empty() ? "\nclass_names = [\"a\", \"b\"]" : "";
    const auto options = sequence_options_of("root = \"/nowhere\"\nkind = \"" + std::string(kind->name) + "\"" + names);
    EXPECT_EQ(options.kind, kind);
    EXPECT_FALSE(expected_files(options).empty());
    EXPECT_GT(options.max_length, 0);
    const SequenceTraits traits = sequence_traits(options);
    EXPECT_GT(traits.classes, 1);
    EXPECT_GT(traits.vocabulary, 1);
    EXPECT_EQ(traits.pairs, kind->given == GivenForm::pair_of_texts);
    EXPECT_NE(kind->open, nullptr);
  }
}

TEST(SequenceTraits, SayWhatAModelMustKnow) {
  const auto traits = [](const std::string& text) {
    return sequence_traits(sequence_options_of("root = \"x\"\n" + text));
  };
  EXPECT_EQ(traits("").vocabulary, 17);
  EXPECT_EQ(traits("").classes, 10);
  EXPECT_EQ(traits("kind = \"imdb\"").vocabulary, 257);
  EXPECT_EQ(traits("kind = \"imdb\"\ntokens = \"subwords\"\nsubword_model = \"m\"").vocabulary, 8000);
  EXPECT_EQ(traits("kind = \"matching\"").classes, 2);
  EXPECT_TRUE(traits("kind = \"matching\"").pairs);
  EXPECT_EQ(traits("kind = \"cifar10_pixels\"").vocabulary, 256);
  EXPECT_EQ(traits("kind = \"cifar10_pixels\"").max_length, 1024);
}

void expect_traits_hold(const SequenceDatasetOptions& options) {
  const SequenceTraits traits = sequence_traits(options);
  for (const auto split : {SequenceSplit::train, SequenceSplit::validation, SequenceSplit::test}) {
    const auto data = open_sequence_dataset(options, split);
    EXPECT_EQ(data->vocabulary().size, traits.vocabulary) << to_string(split);
    EXPECT_EQ(data->classes(), traits.classes);
    EXPECT_EQ(data->has_pairs(), traits.pairs);
    for (int64_t i = 0; i < data->size(); ++i) {
      EXPECT_LE(data->length(i), traits.max_length);
      for (const Token token : data->tokens(i)) ASSERT_LT(token, traits.vocabulary);
    }
  }
}

TEST(OpenSequences, EveryKindOpensAsItsTraitsSay) {
  const test::TemporaryDirectory folder;
  write_listops_folder(folder / "listops",
                       {.train = 20, .validation = 5, .test = 5, .longer_than = 5, .shorter_than = 50});
  test::write_reviews(folder / "imdb", 15, 4);
  write_matching_folder(folder / "imdb", folder / "pairs", {});
  std::filesystem::create_directory(folder / "cifar");
  const test::Bytes records = test::cifar_records(std::vector<test::Bytes>(10, {1}));
  const size_t bytes = records.size() / 5;
  for (size_t batch = 0; batch < 5; ++batch)
    test::write_bytes(folder / ("cifar/data_batch_" + std::to_string(batch + 1) + ".bin"),
                      std::span(records).subspan(batch * bytes, bytes));
  test::write_bytes(folder / "cifar/test_batch.bin", test::cifar_records({{3}}));
  const auto options = [&](const std::string& kind, const std::string& root) {
    return sequence_options_of("kind = \"" + kind + "\"\nroot = \"" + (folder / root).string() + "\"\nmax_length = 40" +
                               (kind == "matching" ? "\nfiles = \"imdb_pairs\"" : ""));
  };
  expect_traits_hold(options("listops", "listops"));
  expect_traits_hold(options("imdb", "imdb"));
  expect_traits_hold(options("matching", "pairs"));
  expect_traits_hold(options("cifar10_pixels", "cifar"));
}

std::set<std::string> reviews_of(const SequenceDatasetOptions& options, SequenceSplit split) {
  std::set<std::string> reviews;
  const auto data = open_sequence_dataset(options, split);
  for (int64_t i = 0; i < data->size(); ++i)
    reviews.insert(std::string(data->tokens(i).begin(), data->tokens(i).end()));
  EXPECT_EQ(static_cast<int64_t>(reviews.size()), data->size());
  return reviews;
}

TEST(OpenSequences, ValidationIsHeldOutOfTrainingOrTheTestSplit) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 50, 5);
  SequenceDatasetOptions options{.kind = &kImdb, .root = root.path()};
  EXPECT_EQ(reviews_of(options, SequenceSplit::validation), reviews_of(options, SequenceSplit::test));
  EXPECT_EQ(reviews_of(options, SequenceSplit::train).size(), 100u);

  options.validation_fraction = 0.1;
  const auto train = reviews_of(options, SequenceSplit::train),
             validation = reviews_of(options, SequenceSplit::validation);
  EXPECT_EQ(train.size(), 90u);
  EXPECT_EQ(validation.size(), 10u);
  for (const std::string& review : validation) EXPECT_FALSE(train.contains(review));
  EXPECT_EQ(reviews_of(options, SequenceSplit::validation), validation);
  options.subset_seed = 1;
  EXPECT_NE(reviews_of(options, SequenceSplit::validation), validation);
}

TEST(OpenSequences, SamplesThatShareATextAreHeldOutTogether) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 50, 5);
  SequenceDatasetOptions options{.kind = &kImdb, .root = root.path(), .validation_fraction = 0.3};
  const auto parts_by = [&](SplitBy split_by) {
    options.split_by = split_by;
    return std::pair(reviews_of(options, SequenceSplit::train), reviews_of(options, SequenceSplit::validation));
  };
  EXPECT_EQ(parts_by(SplitBy::groups), parts_by(SplitBy::samples)) << "no texts are equal";
  // Each of 20 reviews has a twin that is equal after normalisation; bytes differ.
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    test::write_text(root / "train/pos" / (number + "_1.txt"), "caf\u00e9 " + number);
    test::write_text(root / "train/neg" / (number + "_1.txt"), "cafe\u0301  " + number + "\n");
  }
  const auto shared_by = [&](SplitBy split_by, uint64_t seed) {
    options.split_by = split_by;
    options.subset_seed = seed;
    const auto open = [&](SequenceSplit split) { return open_sequence_dataset(options, split, ".", KeepOrigins::yes); };
    const auto train = open(SequenceSplit::train), validation = open(SequenceSplit::validation);
    EXPECT_EQ(train->size(), 98);
    EXPECT_EQ(validation->size(), 42);
    return sequence_overlap(*train, *validation, "validation").shared;
  };
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_EQ(shared_by(SplitBy::groups, seed), 0);
    EXPECT_GT(shared_by(SplitBy::samples, seed), 0);
  }
}

TEST(OpenSequences, GroupsThatAreTooLargeLeaveTheSmallestToHoldOut) {
  const test::TemporaryDirectory root;
  for (const char* file : {"train/pos/0_1.txt", "train/pos/1_1.txt", "train/neg/0_1.txt", "train/neg/1_1.txt"})
    test::write_text(root / file, "the same");
  const SequenceDatasetOptions options{.kind = &kImdb, .root = root.path(), .validation_fraction = 0.1};
  const std::array others{root / "train/pos/2_1.txt", root / "train/pos/3_1.txt", root / "train/neg/2_1.txt"};
  for (const std::filesystem::path& file : others) test::write_text(file, "another");
  EXPECT_EQ(open_sequence_dataset(options, SequenceSplit::validation)->size(), 3);
  EXPECT_EQ(open_sequence_dataset(options, SequenceSplit::train)->size(), 4);
  for (const std::filesystem::path& file : others) std::filesystem::remove(file);
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              open_sequence_dataset(options, SequenceSplit::validation);
            }).find("cannot hold out a sample"),
            std::string::npos);
}

TEST(OpenSequences, FractionAndLimitKeepNestedParts) {
  const test::TemporaryDirectory root;
  test::write_reviews(root.path(), 50, 20);
  SequenceDatasetOptions options{.kind = &kImdb, .root = root.path(), .fraction = 0.2};
  const auto fifth = reviews_of(options, SequenceSplit::train);
  EXPECT_EQ(fifth.size(), 20u);
  EXPECT_EQ(reviews_of(options, SequenceSplit::test).size(), 40u);
  options.fraction = 0.5;
  EXPECT_TRUE(std::ranges::includes(reviews_of(options, SequenceSplit::train), fifth));
  options.limit = 30;
  EXPECT_EQ(reviews_of(options, SequenceSplit::train).size(), 30u);
  EXPECT_EQ(reviews_of(options, SequenceSplit::test).size(), 30u);
}

TEST(OpenSequences, MissingFoldersSayWhatIsExpected) {
  const SequenceDatasetOptions listops{.root = "/nowhere", .files = "basic"};
  EXPECT_EQ(
      test::thrown_message<io::Error>([&] { open_sequence_dataset(listops, SequenceSplit::train); }),
      "data.root: there is no folder /nowhere; it should contain basic_train.tsv, basic_val.tsv and basic_test.tsv, "
      "which `cachet data listops` makes.");
  for (const SequenceKind* kind : {&kImdb, &kMatching, &kCifar10Pixels})
    EXPECT_THROW(open_sequence_dataset({.kind = kind, .root = "/nowhere"}, SequenceSplit::train), io::Error);
}

}  // namespace
}  // namespace cachet::data
