#include "cachet/data/text/parallel/parallel_loader.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "tests/data/text/parallel_texts.h"

namespace cachet::data {
namespace {

std::string line_of(int64_t words, int64_t first) {
  std::string line;
  for (int64_t i = 0; i < words; ++i) line += std::string(i == 0 ? "" : " ") + static_cast<char>('a' + (first + i) % 4);
  return line + "\n";
}

// Lengths of 0 … 12 on both sides.
std::shared_ptr<const ParallelCorpus> drawn_corpus(const test::ParallelFolder& texts, const std::string& stem,
                                                   SequenceSplit split, int64_t pairs = 200) {
  std::string source, target;
  for (int64_t i = 0; i < pairs; ++i) {
    source += line_of(i * 7919 % 13, i);
    target += line_of(i * 104729 % 11, i + 1);
  }
  texts.write(stem + ".de", source);
  texts.write(stem + ".en", target);
  return texts.open(split);
}

TEST(ParallelLoader, ABatchHasTheMarksOfBothSides) {
  test::ParallelFolder texts;
  texts.write("test.de", "a b\nc\n");
  texts.write("test.en", "d\na b c\n");
  const auto corpus = texts.open(SequenceSplit::test);
  const ParallelLoader loader(corpus, evaluation_order(*corpus, {}), {.workers = 0});
  auto stream = loader.iterate(0);
  const ParallelBatch batch = *stream.next();
  EXPECT_FALSE(stream.next().has_value());
  EXPECT_EQ(batch.indices, (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(at::equal(batch.source.ids, at::tensor({1, 2, 0, 3, 0, 0}, at::kLong).view({2, 3})));
  EXPECT_TRUE(at::equal(batch.source.padding, at::tensor({0, 0, 0, 0, 0, 1}, at::kLong).view({2, 3}).to(at::kBool)));
  EXPECT_TRUE(at::equal(batch.input.ids, at::tensor({0, 4, 0, 0, 0, 1, 2, 3}, at::kLong).view({2, 4})));
  EXPECT_TRUE(at::equal(batch.target.ids, at::tensor({4, 0, 0, 0, 1, 2, 3, 0}, at::kLong).view({2, 4})));
  EXPECT_TRUE(at::equal(batch.target.padding, batch.input.padding));
  EXPECT_TRUE(
      at::equal(batch.target.padding, at::tensor({0, 0, 1, 1, 0, 0, 0, 0}, at::kLong).view({2, 4}).to(at::kBool)));
}

TEST(ParallelLoader, KeepsWithinTheBudgetOnBothSides) {
  test::ParallelFolder texts;
  const auto corpus = drawn_corpus(texts, "train", SequenceSplit::train);
  const ParallelLoaderOptions options{.budget = {.max_tokens = 60, .seed = 3}, .padding = {.multiple = 2}};
  const ParallelLoader loader(corpus, training_order(*corpus, options), {.workers = 2}, options.padding);
  EXPECT_GT(corpus->counts().empty, 0);
  for (const int64_t epoch : {0, 1}) {
    std::multiset<int64_t> seen;
    auto stream = loader.iterate(epoch);
    while (const auto batch = stream.next()) {
      for (const at::Tensor& ids : {batch->source.ids, batch->input.ids, batch->target.ids}) {
        EXPECT_LE(ids.numel(), 60);
        EXPECT_EQ(ids.size(1) % 2, 0);
      }
      seen.insert(batch->indices.begin(), batch->indices.end());
      for (size_t i = 0; i < batch->indices.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        const int64_t length = corpus->length(ParallelSide::target, batch->indices[i]);
        EXPECT_EQ(batch->target.ids[row][length].item<int64_t>(), test::kEos);
        EXPECT_EQ(batch->input.ids[row][0].item<int64_t>(), test::kEos);
        if (batch->target.padding.defined()) {
          EXPECT_EQ((~batch->target.padding[row]).sum().item<int64_t>(), length + 1);
        }
      }
    }
    std::vector<int64_t> all(static_cast<size_t>(corpus->size()));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_TRUE(std::ranges::equal(seen, all)) << "each pair once";
  }
}

TEST(ParallelLoader, EvaluatesByLengthAndSaysWhichPairsTheseAre) {
  test::ParallelFolder texts;
  const auto corpus = drawn_corpus(texts, "valid", SequenceSplit::validation);
  const ParallelLoaderOptions options{.budget = {.max_tokens = 64}};
  const ParallelLoader loader(corpus, evaluation_order(*corpus, options));
  std::set<int64_t> seen;
  int64_t longest = 0;
  auto stream = loader.iterate(0);
  while (const auto batch = stream.next()) {
    const int64_t length = std::max(batch->source.ids.size(1), batch->target.ids.size(1));
    EXPECT_GE(length, longest);
    longest = length;
    seen.insert(batch->indices.begin(), batch->indices.end());
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), corpus->size()) << "pairs with an empty side too";
}

TEST(ParallelLoader, RefusesAnotherCorpusesOrder) {
  test::ParallelFolder texts;
  const auto corpus = drawn_corpus(texts, "valid", SequenceSplit::validation, 20);
  const auto order = evaluation_order(*drawn_corpus(texts, "test", SequenceSplit::test, 30), {});
  EXPECT_THROW(ParallelLoader(corpus, order), std::invalid_argument);
  EXPECT_THROW(ParallelLoader(corpus, evaluation_order(*corpus, {}), {}, {.multiple = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
