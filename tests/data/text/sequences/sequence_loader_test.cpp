#include "cachet/data/text/sequences/sequence_loader.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cachet/data/order/token_budget.h"
#include "tests/data/text/written_sequences.h"

namespace cachet::data {
namespace {

SequenceLoader loader_of(const std::shared_ptr<const SequenceDataset>& data, const EqualBatchOptions& batches,
                         const SequenceLoaderOptions& options = {}) {
  return {data, sequence_order(*data, batches, options.bucket_batches), options.loader, options.padding};
}

std::vector<SequenceBatch> sequence_batches_of(const SequenceLoader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<SequenceBatch> batches;
  auto stream = loader.iterate(epoch, first);
  while (auto batch = stream.next()) batches.push_back(std::move(*batch));
  return batches;
}

bool same_tokens(const PaddedTokens& left, const PaddedTokens& right) {
  if (left.padding.defined() != right.padding.defined() || left.ids.defined() != right.ids.defined()) return false;
  return (!left.ids.defined() || left.ids.equal(right.ids)) &&
         (!left.padding.defined() || left.padding.equal(right.padding));
}

void expect_same_sequences(const std::vector<SequenceBatch>& left, const std::vector<SequenceBatch>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].number, right[i].number);
    EXPECT_EQ(left[i].indices, right[i].indices);
    EXPECT_TRUE(left[i].labels.equal(right[i].labels));
    EXPECT_TRUE(same_tokens(left[i].tokens, right[i].tokens));
    EXPECT_TRUE(same_tokens(left[i].second, right[i].second));
  }
}

TEST(Pad, FillsBehindTheEndsAndMasksThem) {
  const std::vector<Token> a{5, 6}, b{7, 8, 9};
  const PaddedTokens batch = pad({a, b}, {});
  EXPECT_TRUE(batch.ids.equal(at::tensor({5, 6, 0, 7, 8, 9}, at::kLong).view({2, 3})));
  EXPECT_TRUE(batch.padding.equal(at::tensor({0, 0, 1, 0, 0, 0}).to(at::kBool).view({2, 3})));
  EXPECT_FALSE(pad({b, b}, {}).padding.defined());
  EXPECT_EQ(pad({a, b}, {.multiple = 4}).ids.size(1), 4);
  EXPECT_EQ(pad({a, b}, {.least_length = 7}).ids.size(1), 7);
  EXPECT_EQ(pad({a, b}, {.multiple = 8, .most_length = 5}).ids.size(1), 5) << "as long as a model reads";
  EXPECT_EQ((PaddingOptions{.multiple = 65536, .most_length = 16}.rounded_up(3)), 16);
  EXPECT_EQ((PaddingOptions{.multiple = 8, .most_length = 16}.rounded_up(9)), 16);
  EXPECT_EQ((PaddingOptions{.multiple = 8, .most_length = 16}.rounded_up(17)), 17);
  const PaddedTokens both = pad({b, b}, {.multiple = 4, .least_length = 7});
  EXPECT_EQ(both.ids.size(1), 8);
  EXPECT_EQ(both.padding.sum().item<int64_t>(), 10);
}

TEST(SequenceLoader, BatchesAreTheSameForAnyNumberOfWorkersAndAnyStart) {
  const auto data = test::synthetic_sequences(103, 40, /*pairs=*/true);
  const auto loader = [&](int64_t workers) {
    return loader_of(data, {.batch_size = 4, .drop_last = false, .seed = 9}, {.loader = {.workers = workers}});
  };
  const auto alone = sequence_batches_of(loader(0), 3);
  EXPECT_EQ(alone.size(), 26u);
  for (const int64_t workers : {1, 2, 5}) expect_same_sequences(sequence_batches_of(loader(workers), 3), alone);
  for (const int64_t first : {0, 1, 13, 25, 26})
    expect_same_sequences(sequence_batches_of(loader(2), 3, first), {alone.begin() + first, alone.end()});
  EXPECT_THROW(loader(1).iterate(0, 27), std::out_of_range);
}

TEST(SequenceLoader, BatchesHoldTheirSamples) {
  const auto data = test::synthetic_sequences(90, 40, /*pairs=*/true);
  const SequenceLoader loader =
      loader_of(data, {.batch_size = 8, .drop_last = false, .seed = 1}, {.bucket_batches = 4});
  std::vector<int64_t> seen;
  for (const SequenceBatch& batch : sequence_batches_of(loader, 0)) {
    for (size_t row = 0; row < batch.indices.size(); ++row) {
      const int64_t index = batch.indices[row], place = static_cast<int64_t>(row);
      seen.push_back(index);
      EXPECT_EQ(batch.labels[place].item<int64_t>(), index % 3);
      EXPECT_EQ(batch.tokens.ids[place].sum().item<int64_t>(), (1 + index) * data->tokens(index).size());
      EXPECT_EQ(batch.second.ids[place].sum().item<int64_t>(), (1 + index) * data->second(index).size());
      if (batch.tokens.padding.defined()) {
        EXPECT_EQ(batch.tokens.padding[place].logical_not().sum().item<int64_t>(), data->tokens(index).size());
      }
    }
    EXPECT_EQ(batch.second.ids.size(1), batch.tokens.ids.size(1) + 1);
  }
  std::ranges::sort(seen);
  for (int64_t i = 0; i < 90; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(SequenceLoader, SingleSequencesHaveNoSecond) {
  const SequenceLoader loader = loader_of(test::synthetic_sequences(10, 5, false), {.batch_size = 5});
  const auto batch = loader.iterate(0).next();
  EXPECT_FALSE(batch->second.ids.defined() || batch->second.padding.defined());
}

TEST(SequenceLoader, BucketsSavePadding) {
  const auto data = test::synthetic_sequences(400, 100, false);
  const auto padded = [&](int64_t bucket_batches) {
    int64_t places = 0;
    const SequenceLoader loader = loader_of(data, {.batch_size = 8}, {.bucket_batches = bucket_batches});
    for (const auto& batch : sequence_batches_of(loader, 0))
      places += batch.tokens.padding.defined() ? batch.tokens.padding.sum().item<int64_t>() : 0;
    return places;
  };
  EXPECT_LT(padded(50), padded(0) / 5);
}

TEST(SequenceLoader, TakesAnyOrder) {
  const auto data = test::synthetic_sequences(400, 100, /*pairs=*/true);
  const PaddingOptions padding{.multiple = 8};
  const auto order =
      std::make_shared<TokenBudget>(padded_lengths(*data, padding), TokenBudgetOptions{.max_tokens = 500, .seed = 2});
  std::vector<int64_t> seen;
  int64_t largest = 0;
  for (const SequenceBatch& batch : sequence_batches_of(SequenceLoader(data, order, {}, padding), 1)) {
    largest = std::max({largest, batch.tokens.ids.numel(), batch.second.ids.numel()});
    seen.insert(seen.end(), batch.indices.begin(), batch.indices.end());
  }
  EXPECT_LE(largest, 500) << "padding included";
  EXPECT_GT(largest, 400);
  std::ranges::sort(seen);
  for (int64_t i = 0; i < 400; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(SequenceLoader, RefusesImpossibleOptions) {
  const auto data = test::synthetic_sequences(10, 5, false);
  EXPECT_THROW(loader_of(data, {}, {.padding = {.multiple = 0}}), std::invalid_argument);
  EXPECT_THROW(loader_of(data, {}, {.padding = {.least_length = 0}}), std::invalid_argument);
  EXPECT_THROW(loader_of(data, {}, {.bucket_batches = -1}), std::invalid_argument);
  EXPECT_THROW(SequenceLoader(data, std::make_shared<EqualBatches>(9, EqualBatchOptions{})), std::invalid_argument);
  EXPECT_THROW(loader_of(data, {}, {.loader = {.workers = -1}}), std::invalid_argument);
}

TEST(SequenceLoaderOptions, AreReadFromARecipe) {
  auto document = config::Document::from_text(
      "workers = 3\nprefetch = 5\nbucket_batches = 9\npad_to = \"max_length\"\npad_multiple = 64", "recipe.toml");
  const auto options = read_sequence_loader_options(document.root(), 1000);
  document.finish();
  EXPECT_EQ(options.loader.workers, 3);
  EXPECT_EQ(options.loader.prefetch, 5);
  EXPECT_EQ(options.bucket_batches, 9);
  EXPECT_EQ(options.padding.least_length, 1000);
  EXPECT_EQ(options.padding.multiple, 64);
  auto bad = config::Document::from_text("pad_to = \"longst\"\npad_multiple = 0\nbucket_batches = -1", "recipe.toml");
  EXPECT_EQ(read_sequence_loader_options(bad.root(), 1000).padding.least_length, 1);
  try {
    bad.finish();
    FAIL() << "nothing was thrown";
  } catch (const config::Error& error) {
    for (const char* part : {"recipe.toml:1", "'longest'", "recipe.toml:2", "recipe.toml:3"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in\n" << error.what();
  }
}

}  // namespace
}  // namespace cachet::data
