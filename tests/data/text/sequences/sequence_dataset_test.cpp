#include "cachet/data/text/sequences/sequence_dataset.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/data/text/written_sequences.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::shared_ptr<const TokenStore> two_sequences_and_an_empty_one() {
  auto store = std::make_shared<TokenStore>(65'536);
  EXPECT_EQ(store->add(std::vector<Token>{5, 6, 7}), 0);
  EXPECT_EQ(store->add(std::vector<Token>{65'535}), 1);
  EXPECT_EQ(store->add(std::vector<Token>{}), 2);
  return store;
}

std::string dataset_complaint(const std::vector<SequenceSample>& samples) {
  return test::thrown_message<std::invalid_argument>([&] {
    SequenceDataset(two_sequences_and_an_empty_one(), samples, {65'536, ""}, {"no", "yes"});
  });
}

TEST(SequenceDataset, SamplesMayShareSequences) {
  const SequenceDataset pairs(two_sequences_and_an_empty_one(), {{0, 1, 1}, {1, 0, 0}, {1, 1, 1}}, {65'536, ""},
                              {"no", "yes"});
  EXPECT_TRUE(pairs.has_pairs());
  EXPECT_EQ(pairs.length(1), 3);
  EXPECT_EQ(pairs.length(2), 1);
  EXPECT_EQ(pairs.tokens(0).data(), pairs.second(1).data());
  const auto some = pairs.subset({2, 0});
  EXPECT_EQ(some->size(), 2);
  EXPECT_EQ(some->length(0), 1);
  EXPECT_EQ(some->label(1), 1);
  EXPECT_EQ(some->tokens(1).data(), pairs.tokens(0).data());
  EXPECT_THROW(pairs.subset({3}), std::out_of_range);
  EXPECT_THROW(pairs.label(-1), std::out_of_range);
}

TEST(SequenceDataset, KnowsWhichSamplesWereCut) {
  auto store = std::make_shared<TokenStore>(10);
  store->add(std::vector<Token>{5, 6});
  store->add(std::vector<Token>{7, 8}, /*is_cut=*/true);
  const SequenceDataset single(store, {{0, -1, 0}, {1, -1, 0}}, {10, ""}, {"one"});
  EXPECT_FALSE(single.is_cut(0));
  EXPECT_TRUE(single.is_cut(1));
  const SequenceDataset pairs(store, {{0, 0, 0}, {0, 1, 0}}, {10, ""}, {"one"});
  EXPECT_FALSE(pairs.is_cut(0));
  EXPECT_TRUE(pairs.is_cut(1));
  EXPECT_TRUE(pairs.subset({1})->is_cut(0));
}

TEST(SequenceDataset, RefusesSamplesThatCannotBe) {
  EXPECT_EQ(dataset_complaint({{0, -1, 0}, {1, -1, 2}}), "sample 1: label 2 must be below the number of classes, 2");
  EXPECT_EQ(dataset_complaint({{0, -1, -1}}), "sample 0: label -1 must be below the number of classes, 2");
  EXPECT_EQ(dataset_complaint({{0, -1, 0}, {0, 1, 0}}), "sample 1: either all samples must be pairs, or none");
  EXPECT_EQ(dataset_complaint({{2, -1, 0}}), "sample 0: a sample has a sequence that is missing or empty");
  EXPECT_EQ(dataset_complaint({{0, 3, 0}}), "sample 0: a sample has a sequence that is missing or empty");
  EXPECT_EQ(dataset_complaint({{-1, -1, 0}}), "sample 0: a sample has a sequence that is missing or empty");
}

TEST(SequenceDataset, IsDescribedWithWhatWasDoneByRule) {
  const auto store = two_sequences_and_an_empty_one();
  const SequenceDataset plain(store, {{0, -1, 0}, {1, -1, 1}}, {65'536, ""}, {"no", "yes"});
  EXPECT_EQ(describe(plain, "train"),
            std::vector<std::string>{"train: 2 sequences, 4 tokens; the longest sequence has 3 tokens"});
  const SequenceDataset ruled(store, {{0, 1, 0}}, {65'536, ""}, {"no", "yes"},
                              {.truncated = 3, .skipped = 2, .replaced = 1});
  EXPECT_EQ(describe(ruled, "test"),
            (std::vector<std::string>{"test: 1 pair, 4 tokens; the longest sequence has 3 tokens",
                                      "test: 3 sequences were longer than data.max_length and were truncated",
                                      "test: 2 samples with an empty text were skipped",
                                      "test: 1 byte that is not UTF-8 was read as U+FFFD. A subword model reads this "
                                      "character as a space, or as an unknown token if the model was made with "
                                      "--keep-characters"}));
}

}  // namespace
}  // namespace cachet::data
