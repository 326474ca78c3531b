// Modules that give a reason why their passes cannot be replayed: a recording shows that the reason is true, and that
// the same module without the option has no reason.
#include "cachet/nn/base/not_replayable.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "cachet/nn/attention/functions/performer_attention.h"
#include "cachet/nn/layers/adaptive_embedding.h"
#include "cachet/nn/layers/adaptive_softmax.h"
#include "tests/support/replayed_calls.h"
#include "tests/support/thrown_message.h"

namespace cachet {
namespace {

/// Returns why the operators of a pass cannot be replayed, or an empty text.
std::string refusal_of(const std::function<void()>& pass) {
  test::ReplayedCalls calls;
  pass();  // may make tables
  try {
    calls.record(pass);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

struct Vocabulary {
  nn::AdaptiveVocabulary options{.tokens = 12, .dim = 4, .cutoffs = {}, .division = 2};
  at::Tensor ids = at::arange(12);
};

TEST(NotReplayable, AnAdaptiveEmbeddingWithClusters) {
  Vocabulary vocabulary;
  const auto plain = std::make_shared<nn::AdaptiveEmbedding>(vocabulary.options);
  EXPECT_EQ(nn::why_not_replayed(*plain), std::nullopt);
  EXPECT_EQ(refusal_of([&] { plain->forward(vocabulary.ids); }), "");
  vocabulary.options.cutoffs = {4, 8};
  const auto clusters = std::make_shared<nn::AdaptiveEmbedding>(vocabulary.options);
  EXPECT_EQ(nn::why_not_replayed(*clusters),
            "the clusters of the adaptive embedding have sizes that depend on the tokens");
  EXPECT_EQ(refusal_of([&] { clusters->forward(vocabulary.ids); }), "aten::nonzero reads a value on the host");
}

TEST(NotReplayable, AnAdaptiveSoftmaxWithClusters) {
  Vocabulary vocabulary;
  const at::Tensor hidden = at::rand({12, 4});
  const auto plain = std::make_shared<nn::AdaptiveSoftmax>(
      vocabulary.options, nn::AdaptiveTies{.tables = false, .projections = false}, nullptr);
  EXPECT_EQ(nn::why_not_replayed(*plain), std::nullopt);
  EXPECT_EQ(refusal_of([&] { plain->negative_log_likelihood(hidden, vocabulary.ids); }), "");
  vocabulary.options.cutoffs = {4, 8};
  const auto clusters = std::make_shared<nn::AdaptiveSoftmax>(
      vocabulary.options, nn::AdaptiveTies{.tables = false, .projections = false}, nullptr);
  EXPECT_EQ(nn::why_not_replayed(*clusters),
            "the clusters of the adaptive softmax have sizes that depend on the tokens");
  EXPECT_EQ(refusal_of([&] { clusters->negative_log_likelihood(hidden, vocabulary.ids); }),
            "aten::nonzero reads a value on the host");
}

TEST(NotReplayable, APerformerThatRedrawsItsFeatures) {
  const at::Tensor x = at::rand({1, 2, 5, 4});
  const auto plain = std::make_shared<nn::PerformerAttention>(nn::PerformerOptions{}, 2, 4);
  EXPECT_EQ(nn::why_not_replayed(*plain), std::nullopt);
  EXPECT_EQ(refusal_of([&] { plain->forward(x, x, x, {}); }), "");
  const auto redraws = std::make_shared<nn::PerformerAttention>(nn::PerformerOptions{.redraw_every = 3}, 2, 4);
  EXPECT_EQ(nn::why_not_replayed(*redraws),
            "the attention counts on the host when it redraws its features (redraw_every)");
  EXPECT_EQ(refusal_of([&] { redraws->forward(x, x, x, {}); }), "aten::_local_scalar_dense reads a value on the host");
}

TEST(NotReplayable, AModuleOfAModelIsFound) {
  struct Model : torch::nn::Module {
  } model;
  EXPECT_EQ(nn::why_not_replayed(model), std::nullopt);
  model.register_module("attention",
                        std::make_shared<nn::PerformerAttention>(nn::PerformerOptions{.redraw_every = 3}, 2, 4));
  EXPECT_NE(nn::why_not_replayed(model), std::nullopt);
}

}  // namespace
}  // namespace cachet
