// clone() of layers: every norm, every cache × attention function, blocks, and what deployment makes of them.
#include "cachet/nn/base/cloneable.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/token_performer.h"
#include "cachet/nn/attention/token_transformer.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/layers/depthwise_feed_forward.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/norm/scale_shift_norm.h"
#include "cachet/nn/transformer_block.h"
#include "tests/support/all_caches.h"
#include "tests/support/all_norms.h"
#include "tests/support/attention_functions.h"
#include "tests/support/clone_check.h"
#include "tests/support/refused.h"

namespace cachet::nn {
namespace {

constexpr int64_t kDim = 8;
const TokenLayout kMap{.grid = Grid{4, 4}};

at::Tensor map_tokens() { return at::randn({3, 16, kDim}); }

// Self-attention over a map; states have moved first.
void expect_attention_clones(const std::shared_ptr<Attention>& layer) {
  const at::Tensor x = map_tokens();
  const auto forward = [x](Attention& each) { return each.forward(x, x, AttentionArgs::self(kMap)); };
  if (layer->is_training())
    for (int64_t step = 0; step < 2; ++step) forward(*layer);
  test::expect_clones<Attention>(layer, forward);
}

TEST(LayerClone, OfEveryNorm) {
  const at::Tensor x = at::randn({3, 5, kDim});
  // Those that warm up, beyond the warm-up.
  std::vector<std::pair<std::string, NormOptions>> norms{
      {"un, warm", UnifiedNormOptions{.settings = {.warmup = 1}}},
      {"un, official", UnifiedNormOptions{.variant = UnifiedNormVariant::official, .settings = {.warmup = 1}}},
      {"mabn, warm", MovingAverageBatchNormOptions{.window = 3, .warmup = 1}}};
  norms.insert(norms.end(), test::all_norms().begin(), test::all_norms().end());
  for (const auto& [name, options] : norms) {
    SCOPED_TRACE(name);
    const auto norm = make_norm(options, kDim);
    for (int64_t step = 0; step < 3; ++step) norm->forward(x + at::randn_like(x));
    test::expect_clones<Norm>(norm, [&](Norm& each) { return each.forward(x) * 2; });
  }
  const auto folded = std::make_shared<ScaleShiftNorm>(Affine{at::randn({kDim}), at::randn({kDim})});
  test::expect_clones<Norm>(folded, [&](Norm& each) { return each.forward(x); });
}

TEST(LayerClone, OfEveryCacheAndAttentionFunction) {
  for (const auto& [cache_name, cache] : test::all_caches())
    for (const auto& [name, function] : test::attention_functions()) {
      SCOPED_TRACE(cache_name + ", " + name);
      if (is_concatenated(cache) && !std::holds_alternative<SoftmaxOptions>(function)) continue;
      expect_attention_clones(make_self_attention(
          {.dim = kDim, .num_heads = 2, .tokens = 16, .layout = kMap, .cache = cache}, {.function = function}));
    }
}

TEST(LayerClone, OfTrainedKernelsOfEveryForm) {
  for (const KernelForm form : {KernelForm::linear, KernelForm::orthogonal_linear, KernelForm::glu,
                                KernelForm::orthogonal_glu, KernelForm::low_rank_glu, KernelForm::feed_forward}) {
    const bool stacked = form != KernelForm::linear && form != KernelForm::orthogonal_linear;
    const KernelOptions kernel{.form = form, .layers = stacked ? 2 : 1, .between = KernelBetween::layer_norm};
    expect_attention_clones(
        make_self_attention({.dim = kDim, .num_heads = 2, .tokens = 16, .layout = kMap}, {.function = kernel}));
  }
}

TEST(LayerClone, OfTheOtherAttentions) {
  for (const auto& [name, cache] : test::all_caches()) {
    SCOPED_TRACE(name);
    expect_attention_clones(make_window_attention(
        {.dim = kDim, .num_heads = 2, .cache = cache, .windows = {.window = {3, 3}, .shift = {1, 1}}}));
  }
  for (const ReductionForm form : {ReductionForm::convolution, ReductionForm::pooling})
    expect_attention_clones(std::make_shared<SpatialReductionAttention>(
        MultiHeadOptions{.dim = kDim, .num_heads = 2, .projection = Projection::separate},
        SpatialReductionOptions{.form = form, .ratio = 2, .norm = UnifiedNormOptions{}}));
  expect_attention_clones(std::make_shared<TokenPerformer>(TokenPerformerOptions{.dim = kDim, .token_dim = 6}));
  expect_attention_clones(std::make_shared<TokenTransformer>(TokenTransformerOptions{.dim = kDim, .token_dim = 6}));
}

TEST(LayerClone, OfFrozenCaches) {
  for (const CacheOptions& cache :
       {CacheOptions(GatedRecurrentCacheOptions{}), CacheOptions(ConcatenatedCacheOptions{})})
    for (const bool windows : {false, true}) {
      const auto layer =
          windows ? make_window_attention(
                        {.dim = kDim, .num_heads = 2, .cache = cache, .windows = {.window = {2, 2}, .shift = {1, 1}}})
                  : make_self_attention({.dim = kDim, .num_heads = 2, .tokens = 16, .layout = kMap, .cache = cache});
      const at::Tensor x = map_tokens();
      layer->forward(x, x, AttentionArgs::self(kMap));
      layer->eval();
      const auto frozen = layer->freeze_cache();
      frozen->eval();
      expect_attention_clones(frozen);
    }
}

TEST(LayerClone, OfBlocksAndTheirHalves) {
  const at::Tensor x = map_tokens(), context = at::randn({1, 3, 6});
  for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
    const auto block = std::make_shared<TransformerBlock>(
        TransformerBlockOptions{.dim = kDim,
                                .num_heads = 2,
                                .dropout = 0.1,
                                .stochastic_depth = 0.1,
                                .tokens = 16,
                                .layout = kMap,
                                .norm_place = place,
                                .cross_attention = CrossAttentionOptions{.context_dim = 6}},
        PlugIns{.cache = GatedRecurrentCacheOptions{}, .norm = UnifiedNormOptions{}});
    test::expect_clones<TransformerBlock>(block, [&](TransformerBlock& each) {
      return each.forward(x, AttentionArgs::self(kMap), {.tokens = context, .layout = {}});
    });
  }
  const FeedForwardOptions half{.dim = kDim, .hidden_dim = 12, .dropout = 0.1, .activation = Activation::silu};
  const auto forward = [&](FeedForward& each) { return each.forward(x, kMap); };
  test::expect_clones<FeedForward>(std::make_shared<FeedForward>(half), forward);
  test::expect_clones<FeedForward>(std::make_shared<DepthwiseFeedForward>(half, BeforeDepthwise::relu), forward);
}

TEST(LayerClone, OfABlockWhoseNormsWereFolded) {
  const auto block = std::make_shared<TransformerBlock>(
      TransformerBlockOptions{.dim = kDim, .num_heads = 2, .tokens = 16, .layout = kMap},
      PlugIns{.attention = {.qkv_bias = false}, .cache = GatedRecurrentCacheOptions{}, .norm = UnifiedNormOptions{}});
  const at::Tensor x = map_tokens();
  block->forward(x, AttentionArgs::self(kMap));
  block->eval();
  block->fold_norms();
  test::expect_clones<TransformerBlock>(
      block, [&](TransformerBlock& each) { return each.forward(x, AttentionArgs::self(kMap)); });
}

// Two linear layers; `weight` of both may be one.
class Pair : public Cloneable<Pair> {
 public:
  Pair(std::shared_ptr<Linear> first, std::shared_ptr<Linear> second)
      : first_(register_module("first", std::move(first))), second_(register_module("second", std::move(second))) {}
  at::Tensor forward(const at::Tensor& x) { return second_->forward(first_->forward(x)); }
  const Linear& first() const { return *first_; }
  const Linear& second() const { return *second_; }

 private:
  Submodule<Linear> first_, second_;
};

TEST(LayerClone, KeepsWhatIsShared) {
  const auto linear = std::make_shared<Linear>(kDim, kDim);
  const auto tied = std::make_shared<Pair>(linear, std::make_shared<Linear>(linear->weight, at::Tensor()));
  const auto copy = std::dynamic_pointer_cast<Pair>(tied->clone());
  EXPECT_TRUE(copy->first().weight.is_same(copy->second().weight));
  EXPECT_FALSE(copy->first().weight.is_same(linear->weight));
  const auto twice = std::make_shared<Pair>(linear, linear);
  const auto copy_twice = std::dynamic_pointer_cast<Pair>(twice->clone());
  EXPECT_EQ(&copy_twice->first(), &copy_twice->second());
  test::expect_clones<Pair>(twice, [](Pair& each) { return each.forward(at::ones({2, kDim})); });
}

// A part of LibTorch's own next to one that shares its weight.
class Mixed : public Cloneable<Mixed> {
 public:
  Mixed() {
    const torch::nn::Linear theirs(kDim, kDim);
    ours_ = register_module("ours", std::make_shared<Linear>(theirs->weight, at::Tensor()));
    theirs_ = register_module("theirs", theirs);
    list_ = register_module("list", torch::nn::Sequential(torch::nn::Linear(kDim, kDim)));
  }
  at::Tensor forward(const at::Tensor& x) { return ours_->forward(theirs_->forward(list_->forward(x))); }
  void share_with_the_list() {
    theirs_ = replace_module("theirs", std::dynamic_pointer_cast<torch::nn::LinearImpl>(list_->ptr(0)));
  }
  const at::Tensor& own() const { return ours_->weight; }
  const at::Tensor& other() const { return theirs_->weight; }

 private:
  Submodule<Linear> ours_;
  Submodule<torch::nn::LinearImpl> theirs_;
  Submodule<torch::nn::SequentialImpl> list_;
};

TEST(LayerClone, HoldsPartsOfLibTorchsOwn) {
  const auto mixed = std::make_shared<Mixed>();
  mixed->parameters().front().set_requires_grad(false);
  mixed->children().back()->eval();
  test::expect_clones<Mixed>(mixed, [](Mixed& each) { return each.forward(at::ones({2, kDim})); });
  const auto copy = std::dynamic_pointer_cast<Mixed>(mixed->clone());
  EXPECT_TRUE(copy->own().is_same(copy->other()));
  mixed->share_with_the_list();
  test::expect_refused([&] { mixed->clone(); }, "shares a tensor with another module");
}

// A module of a user's, as LibTorch's documentation has them.
struct Theirs : torch::nn::Cloneable<Theirs> {
  Theirs() { reset(); }
  void reset() override {
    attention = register_module(
        "attention",
        make_self_attention(
            {.dim = kDim, .num_heads = 2, .tokens = 16, .layout = kMap, .cache = GatedRecurrentCacheOptions{}}));
  }
  at::Tensor forward(const at::Tensor& x) { return attention->forward(x, x, AttentionArgs::self(kMap)); }
  std::shared_ptr<Attention> attention;
};

TEST(LayerClone, IsPartOfAModuleThatClonesItself) {
  const auto theirs = std::make_shared<Theirs>();
  const at::Tensor x = map_tokens();
  theirs->forward(x);
  const auto copy = std::dynamic_pointer_cast<Theirs>(theirs->clone());
  test::expect_same_form(*copy->attention, *theirs->attention);
  theirs->eval();
  copy->eval();
  EXPECT_TRUE(at::equal(copy->forward(x), theirs->forward(x)));
}

TEST(LayerClone, HasNoListener) {
  const auto layer = make_self_attention({.dim = kDim, .num_heads = 2, .tokens = 16, .layout = kMap});
  int64_t heard = 0;
  const at::Tensor x = map_tokens();
  std::shared_ptr<torch::nn::Module> copy;
  {
    const Observation observation(*layer, [&](const std::string&, Signal, const at::Tensor&) { ++heard; });
    copy = layer->clone();
    layer->forward(x, x, {});
    EXPECT_GT(heard, 0);
    heard = 0;
    dynamic_cast<Attention&>(*copy).forward(x, x, {});
  }
  EXPECT_EQ(heard, 0);
}

TEST(LayerClone, NamesAClassThatCannot) {
  struct Own : StateModule {
    Own() : StateModule("Own") {}
  };
  struct Derived : Linear {
    Derived() : Linear(2, 2) {}
  };
  test::expect_refused([] { std::make_shared<Own>()->clone(); }, "Own cannot be cloned: derive it from");
  test::expect_refused([] { std::make_shared<Derived>()->clone(); }, "cannot be cloned: derive it from");
}

}  // namespace
}  // namespace cachet::nn
