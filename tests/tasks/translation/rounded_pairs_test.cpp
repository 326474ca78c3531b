// Micro-batches that are padded to few shapes have the losses and gradients of the micro-batches themselves.
#include "cachet/tasks/translation/rounded_pairs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cachet/models/language/translation_transformer.h"

namespace cachet::tasks {
namespace {

/// Pairs of drawn lengths. One pair has the longest source, and one the longest target.
data::ParallelBatch drawn_batch(int64_t pairs, int64_t source, int64_t target) {
  const auto sentences = [&](int64_t length) {
    data::PaddedTokens drawn{at::randint(4, 20, {pairs, length}, at::kLong), at::zeros({pairs, length}, at::kBool)};
    for (int64_t i = 1; i < pairs; ++i) drawn.padding[i].narrow(0, length - i % length, i % length).fill_(true);
    drawn.ids.masked_fill_(drawn.padding, data::kPaddingToken);
    return drawn;
  };
  data::ParallelBatch batch;
  batch.source = sentences(source);
  batch.target = sentences(target);
  batch.input = {batch.target.ids.clone(), batch.target.padding.clone()};
  batch.input.ids.select(1, 0).fill_(2);
  return batch;
}

models::SentencePairs pairs_of_batch(const data::ParallelBatch& batch) {
  at::Tensor targets = batch.target.ids;
  if (batch.target.padding.defined()) targets = targets.masked_fill(batch.target.padding, -1);
  return {{batch.source.ids, batch.source.padding}, {batch.input.ids, batch.input.padding}, targets};
}

TEST(RoundedPairs, HasTheShapesOfTheRule) {
  const PairLimits limits{.max_tokens = 100, .source_length = 60, .target_length = 60};
  const auto shape = [&](int64_t pairs, int64_t source, int64_t target, const PairLimits& own) {
    const data::ParallelBatch rounded = rounded_pairs(drawn_batch(pairs, source, target), own);
    EXPECT_EQ(rounded.input.ids.sizes(), rounded.target.ids.sizes());
    EXPECT_EQ(rounded.source.padding.sizes(), rounded.source.ids.sizes());
    return std::vector{rounded.source.ids.size(0), rounded.source.ids.size(1), rounded.target.ids.size(1)};
  };
  EXPECT_EQ(shape(5, 7, 9, limits), (std::vector<int64_t>{6, 16, 16}));
  EXPECT_EQ(shape(10, 7, 9, limits), (std::vector<int64_t>{11, 9, 9}));   // no room for 16 tokens
  EXPECT_EQ(shape(1, 58, 3, limits), (std::vector<int64_t>{1, 60, 60}));  // the model's longest sentences
  PairLimits other = limits;
  other.max_samples = 5;
  EXPECT_EQ(shape(5, 7, 9, other), (std::vector<int64_t>{5, 16, 16}));
  other = limits;
  other.processes = 4;
  EXPECT_EQ(shape(2, 7, 9, other), (std::vector<int64_t>{2, 16, 16}));
  EXPECT_EQ(shape(12, 7, 9, limits), (std::vector<int64_t>{12, 7, 9}));  // too many tokens already
}

TEST(RoundedPairs, RespectsTheTokenBudgetAndHasOneShapeForALength) {
  const PairLimits limits{.max_tokens = 300, .source_length = 64, .target_length = 64};
  std::set<std::vector<int64_t>> shapes, rounded_shapes;
  for (int64_t length = 2; length <= 40; ++length) {
    for (int64_t shorter = std::max<int64_t>(1, length - 4); shorter <= length; ++shorter) {
      const int64_t pairs = limits.max_tokens / length;
      const data::ParallelBatch rounded = rounded_pairs(drawn_batch(pairs, shorter, length), limits);
      EXPECT_LE(rounded.source.ids.numel(), limits.max_tokens);
      EXPECT_LE(rounded.target.ids.numel(), limits.max_tokens);
      shapes.insert({pairs, shorter, length});
      rounded_shapes.insert({rounded.source.ids.size(0), rounded.source.ids.size(1), rounded.target.ids.size(1)});
    }
  }
  EXPECT_LE(rounded_shapes.size(), 39);
  EXPECT_GT(shapes.size(), 3 * rounded_shapes.size());
}

TEST(RoundedPairs, KeepsLossesAndGradients) {
  at::manual_seed(1);
  models::TranslationTransformerOptions options;
  options.text = {20, 20, 40, 40, {}};
  options.embed_dim = 8;
  options.encoder = options.decoder = {2, 2, 12};
  options.dropout = 0;
  auto model = std::make_shared<models::TranslationTransformer>(options);
  model->to(at::kDouble);
  const PairLimits limits{.max_tokens = 100, .source_length = 40, .target_length = 40};
  const auto gradients = [&](const data::ParallelBatch& batch, double& loss, double& likelihood) {
    model->zero_grad();
    const models::TranslationLosses losses = model->losses(pairs_of_batch(batch), {.amount = 0.1});
    losses.loss.sum().backward();
    loss = losses.loss.sum().item<double>();
    likelihood = losses.negative_log_likelihood.sum().item<double>();
    std::vector<at::Tensor> all;
    for (const at::Tensor& parameter : model->parameters()) all.push_back(parameter.grad().clone());
    return all;
  };
  for (const auto& [pairs, source, target] : {std::tuple{3, 5, 7}, {5, 9, 6}, {1, 1, 1}}) {
    const data::ParallelBatch batch = drawn_batch(pairs, source, target);
    const data::ParallelBatch rounded = rounded_pairs(batch, limits);
    EXPECT_GT(rounded.target.ids.numel(), batch.target.ids.numel());
    double loss = 0, likelihood = 0, rounded_loss = 0, rounded_likelihood = 0;
    const auto expected = gradients(batch, loss, likelihood);
    const auto found = gradients(rounded, rounded_loss, rounded_likelihood);
    // Sums of at most a few hundred terms in float64, in another order.
    EXPECT_NEAR(loss, rounded_loss, 1e-12 * std::abs(loss));
    EXPECT_NEAR(likelihood, rounded_likelihood, 1e-12 * std::abs(likelihood));
    for (size_t i = 0; i < expected.size(); ++i) {
      const double scale = std::max(1e-3, expected[i].abs().max().item<double>());
      EXPECT_LE((expected[i] - found[i]).abs().max().item<double>(), 1e-11 * scale) << i;
    }
  }
}

}  // namespace
}  // namespace cachet::tasks
