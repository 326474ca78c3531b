// Options that make no sense are refused when a layer is made, by name.

#include "cachet/nn/base/option_checks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/token_performer.h"
#include "cachet/nn/attention/token_transformer.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/layers/feed_forward.h"
#include "cachet/nn/norm/norm_options.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(OptionChecks, NameTheOptionOfAnAttention) {
  expect_refused([] { nn::make_self_attention({8, 0}); }, "num_heads must be at least 1, got 0");
  expect_refused([] { nn::make_self_attention({8, -2}); }, "num_heads must be at least 1, got -2");
  expect_refused([] { nn::make_self_attention({0, 2}); }, "dim must be at least 1, got 0");
  nn::AttentionOptions options;
  options.head_dim = -4;
  expect_refused([&] { nn::make_self_attention({8, 2}, options); }, "head_dim must be at least 0, got -4");
  options.head_dim = 0;
  options.projection_dropout = kNan;
  expect_refused(
      [&] {
        nn::make_self_attention({8, 2}, options);
      },
      "projection_dropout must be at least 0 and below 1");
  options.projection_dropout = 0;
  options.function = nn::SoftmaxOptions{1.0};
  expect_refused([&] { nn::make_self_attention({8, 2}, options); }, "softmax_attention: dropout must be");
  options.function = nn::LocalOptions{-1};
  expect_refused(
      [&] {
        nn::make_self_attention({8, 2}, options);
      },
      "local_attention: window must be at least 0, got -1");
  options.function = nn::BigBirdOptions{64, 0};
  expect_refused([&] { nn::make_self_attention({8, 2}, options); }, "block_sparse_attention: window must be odd");
  options.function = nn::KernelOptions{nn::KernelForm::orthogonal_glu, 1, 0, true, kNan};
  expect_refused([&] { nn::make_self_attention({8, 2}, options); }, "penalty must be at least 0, got nan");
}

TEST(OptionChecks, NameTheOptionOfACache) {
  nn::GatedRecurrentCacheOptions grc;
  grc.ratio = kNan;
  expect_refused([&] { nn::make_self_attention({8, 2, 4, {}, grc}); }, "ratio must be above 0 and at most 1, got nan");
  grc.ratio = 2;
  expect_refused([&] { nn::make_self_attention({8, 2, 4, {}, grc}); }, "ratio must be above 0 and at most 1, got 2");
  grc.ratio = 0.5;
  expect_refused([&] { nn::make_self_attention({8, 0, 4, {}, grc}); }, "num_heads must be at least 1, got 0");
  expect_refused(
      [&] {
        nn::make_self_attention({8, 2, 0, {}, grc});
      },
      "cache: length must be set, because the number of tokens of the model is 0");
  grc.length = 0;
  expect_refused([&] { nn::make_self_attention({8, 2, 4, {}, grc}); }, "length must be at least 1, got 0");
  grc.length = 4;
  grc.pool = 0;
  expect_refused([&] { nn::make_self_attention({8, 2, 4, {}, grc}); }, "pool must be at least 1, got 0");
  nn::FifoCacheOptions fifo;
  fifo.share_start = kNan;
  expect_refused([&] { nn::make_self_attention({8, 2, 4, {}, fifo}); }, "share_start must be a number");
}

TEST(OptionChecks, NameTheOptionOfAWindow) {
  const auto make = [](const nn::Grid& window, const nn::Grid& shift) {
    nn::make_window_attention({8, 2, {}, {}, {window, shift, nn::WindowOrder::shift_then_pad}});
  };
  expect_refused([&] { make({0, 7}, {0, 0}); }, "relative_window must have at least one position, got 0 x 7");
  expect_refused(
      [&] {
        make({7, 7}, {7, 0});
      },
      "shift must be at least 0 and less than the window of 7 x 7, got 7 x 0");
  expect_refused([&] { nn::Windows({4, 4}, {0, 0}, {0, 0}, nn::WindowOrder::shift_then_pad, at::kCPU); }, "got 0 x 0");
}

TEST(OptionChecks, NameTheOptionOfOtherLayers) {
  expect_refused([] { nn::FeedForward({8, 0}); }, "feed_forward: hidden_dim must be at least 1, got 0");
  expect_refused([] { nn::TokenPerformer({8, 4, kNan}); }, "feature_ratio must be above 0 and at most 1, got nan");
  expect_refused([] { nn::TokenTransformer({8, 0, {}}); }, "token_transformer: token_dim must be at least 1, got 0");
  expect_refused(
      [] {
        nn::SpatialReductionAttention({8, 2, {}, nn::Projection::separate},
                                      {nn::ReductionForm::convolution, 0, nn::LayerNormOptions{}});
      },
      "spatial_reduction_attention: ratio must be at least 1, got 0");
  expect_refused([] { nn::make_norm(nn::LayerNormOptions{}, 0); }, "layer_norm: needs at least one channel");
}

TEST(OptionChecks, ShapesAreRefusedByTheLayerThatTakesThem) {
  const at::Tensor x = at::randn({2, 4, 6});
  nn::Linear linear(8, 3);
  expect_refused([&] { linear.forward(x); }, "linear: takes (..., 8) and gives (..., 3), got [2, 4, 6]");
  nn::FeedForward mlp({8, 4});
  expect_refused([&] { mlp.forward(x, {}); }, "feed_forward: takes (B, L, 8), got [2, 4, 6]");
  const std::vector<std::pair<std::string, nn::NormOptions>> norms{{"layer_norm", nn::LayerNormOptions{}},
                                                                   {"rms_norm", nn::RMSNormOptions{}},
                                                                   {"batch_norm", nn::BatchNormOptions{}},
                                                                   {"unified_norm", nn::UnifiedNormOptions{}},
                                                                   {"power_norm", nn::PowerNormOptions{}}};
  for (const auto& [name, options] : norms) {
    const auto norm = nn::make_norm(options, 8);
    for (const bool training : {true, false}) {
      norm->train(training);
      expect_refused([&, name = name] { norm->forward(x); }, name + ": takes (..., 8), got [2, 4, 6]");
    }
  }
}

}  // namespace
}  // namespace cachet
