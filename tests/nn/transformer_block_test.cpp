#include "cachet/nn/transformer_block.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

nn::TransformerBlockOptions small_block() {
  nn::TransformerBlockOptions options;
  options.dim = 8;
  options.num_heads = 2;
  options.tokens = 4;
  return options;
}

std::shared_ptr<nn::TransformerBlock> double_block(const nn::TransformerBlockOptions& options,
                                                   const nn::PlugIns& plug_ins = {}) {
  auto block = std::make_shared<nn::TransformerBlock>(options, plug_ins);
  block->to(at::kDouble);
  // Norms that can be distinguished.
  const at::NoGradGuard no_grad;
  for (const auto& parameter : block->named_parameters())
    if (parameter.key().find("norm") != std::string::npos)
      parameter.value().add_(at::randn_like(parameter.value()) / 4);
  return block;
}

TEST(TransformerBlock, NormsStandBeforeTheBranchesOrBehindTheSums) {
  for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
    auto options = small_block();
    options.norm_place = place;
    options.activation = nn::Activation::silu;
    const auto block = double_block(options);
    const auto p = block->named_parameters();
    const at::Tensor x = at::randn({2, 4, 8}, at::kDouble);
    const auto norm = [&](const std::string& name, const at::Tensor& t) {
      return at::layer_norm(t, {8}, p[name + ".weight"], p[name + ".bias"], 1e-6);
    };
    const auto linear = [&](const std::string& name, const at::Tensor& t) {
      return at::linear(t, p[name + ".weight"], p[name + ".bias"]);
    };
    const auto attention = [&](const at::Tensor& t) {
      const auto parts = linear("attn.qkv", t).view({2, 4, 3, 2, 4}).permute({2, 0, 3, 1, 4}).unbind(0);
      const at::Tensor weights = (at::matmul(parts[0], parts[1].transpose(2, 3)) / 2).softmax(-1);
      return linear("attn.proj", at::matmul(weights, parts[2]).transpose(1, 2).reshape({2, 4, 8}));
    };
    const auto mlp = [&](const at::Tensor& t) { return linear("mlp.fc2", at::silu(linear("mlp.fc1", t))); };
    at::Tensor expected;
    if (place == nn::NormPlace::before) {
      const at::Tensor sum = x + attention(norm("norm1", x));
      expected = sum + mlp(norm("norm2", sum));
    } else {
      const at::Tensor sum = norm("norm1", x + attention(x));
      expected = norm("norm2", sum + mlp(sum));
    }
    EXPECT_TRUE(at::allclose(block->forward(x, {}), expected, 1e-12, 1e-12));
  }
}

TEST(TransformerBlock, ActivationsAreWhatTheyAreCalled) {
  const at::Tensor x = at::randn({2, 3, 4}, at::kDouble);
  const std::vector<std::pair<nn::Activation, at::Tensor (*)(const at::Tensor&)>> activations{
      {nn::Activation::gelu, [](const at::Tensor& t) { return at::gelu(t); }},
      {nn::Activation::relu, [](const at::Tensor& t) { return at::relu(t); }},
      {nn::Activation::silu, [](const at::Tensor& t) { return at::silu(t); }}};
  for (const auto& [activation, function] : activations) {
    nn::FeedForward mlp({4, 6, 0.0, activation});
    mlp.to(at::kDouble);
    const auto p = mlp.named_parameters();
    const at::Tensor hidden = function(at::linear(x, p["fc1.weight"], p["fc1.bias"]));
    EXPECT_TRUE(at::allclose(mlp.forward(x, {}), at::linear(hidden, p["fc2.weight"], p["fc2.bias"]), 1e-12, 1e-14));
  }
}

TEST(TransformerBlock, NamesOfItsPartsDoNotDependOnWhatItMightHave) {
  const auto names = [](const nn::TransformerBlock& block) {
    std::vector<std::string> all;
    for (const auto& child : block.named_children()) all.push_back(child.key());
    return all;
  };
  auto options = small_block();
  EXPECT_EQ(names(*double_block(options)), (std::vector<std::string>{"norm1", "attn", "norm2", "mlp"}));
  options.cross_attention = nn::CrossAttentionOptions{6};
  const auto block = double_block(options);
  EXPECT_EQ(names(*block), (std::vector<std::string>{"norm1", "attn", "cross_norm", "cross_attn", "norm2", "mlp"}));
  EXPECT_EQ(block->named_parameters()["cross_attn.kv.weight"].sizes(), at::IntArrayRef({16, 6}));
}

TEST(TransformerBlock, CrossAttentionReadsTheEncoderAndNotItsPadding) {
  auto options = small_block();
  options.cross_attention = nn::CrossAttentionOptions{6};
  for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
    options.norm_place = place;
    const auto block = double_block(options);
    const at::Tensor x = at::randn({2, 4, 8}, at::kDouble), tokens = at::randn({2, 5, 6}, at::kDouble);
    const at::Tensor padding = at::tensor({0, 0, 0, 1, 1, 0, 0, 0, 0, 1}).view({2, 5}).to(at::kBool);
    const nn::TokenLayout padded{std::nullopt, 0, padding};
    const at::Tensor y = block->forward(x, {}, {tokens, padded});
    const at::Tensor noisy = at::where(padding.unsqueeze(2), at::randn({2, 5, 6}, at::kDouble), tokens);
    EXPECT_TRUE(at::equal(y, block->forward(x, {}, {noisy, padded})));
    EXPECT_FALSE(at::allclose(y, block->forward(x, {}, {tokens + 1, padded})));
    test::expect_gradients(
        [&](const auto& in) {
          return block->forward(in[0], {}, {in[1], padded}).pow(2).sum();
        },
        {at::randn({2, 2, 8}), at::randn({2, 5, 6})});
  }
}

TEST(TransformerBlock, DecodesWithAnEncoderThatIsProjectedOnce) {
  auto options = small_block();
  options.cross_attention = nn::CrossAttentionOptions{6};
  const auto block = double_block(options);
  block->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({2, 7, 8}, at::kDouble), tokens = at::randn({2, 5, 6}, at::kDouble);
  const at::Tensor padding = at::tensor({0, 0, 0, 1, 1, 0, 0, 0, 0, 1}).view({2, 5}).to(at::kBool);
  const nn::EncoderTokens encoder{tokens, {std::nullopt, 0, padding}};
  nn::AttentionArgs args;
  args.causal = true;
  const at::Tensor expected = block->forward(x, args, encoder);
  const auto state = block->make_state(2, nn::SessionUse::decoding);
  args.state = state.get();
  for (int64_t i = 0; i < 7; ++i) {
    const at::Tensor y = block->forward(x.narrow(1, i, 1), args, i == 0 ? encoder : nn::EncoderTokens{});
    EXPECT_TRUE(at::allclose(y, expected.narrow(1, i, 1), 1e-12, 1e-13)) << i;
    if (i == 3) {  // batch rows are swapped
      const at::Tensor swapped = at::tensor({1, 0}, at::kLong);
      state->reorder(swapped);
      state->reorder(swapped);
    }
  }
}

TEST(TransformerBlock, NamesWhatItRefuses) {
  const auto plain = double_block(small_block());
  auto options = small_block();
  options.cross_attention = nn::CrossAttentionOptions{};
  const auto cross = double_block(options);
  const at::Tensor x = at::randn({2, 4, 8}, at::kDouble);
  expect_refused([&] { plain->forward(x, {}, {x, {}}); }, "was made without cross attention");
  expect_refused([&] { cross->forward(x, {}); }, "has cross attention");
  const auto make = [](const auto& change) {
    auto changed = small_block();
    change(changed);
    nn::TransformerBlock block(changed, {});
  };
  expect_refused([&] { make([](auto& o) { o.num_heads = 0; }); }, "num_heads must be at least 1, got 0");
  expect_refused([&] { make([](auto& o) { o.dim = 0; }); }, "dim must be at least 1, got 0");
  expect_refused([&] { make([](auto& o) { o.mlp_ratio = std::nan(""); }); }, "mlp_ratio must be above 0, got nan");
  expect_refused([&] { make([](auto& o) { o.stochastic_depth = 1; }); },
                 "stochastic_depth must be at least 0 and below 1");
  expect_refused([&] { make([](auto& o) { o.dropout = -0.5; }); }, "dropout must be at least 0 and below 1, got -0.5");
}

TEST(TransformerBlock, TakesEveryCombinationOfPlugIns) {
  nn::TransformerBlockOptions options;
  options.dim = 8;
  options.num_heads = 2;
  options.tokens = 5;
  options.layout = {nn::Grid{2, 2}, 1, {}};
  const std::vector<nn::CacheOptions> caches{
      nn::NoCacheOptions{}, nn::GatedRecurrentCacheOptions{},
      nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official), nn::FifoCacheOptions{}};
  const std::vector<nn::NormOptions> norms{nn::LayerNormOptions{},
                                           nn::RMSNormOptions{},
                                           nn::BatchNormOptions{},
                                           nn::UnifiedNormOptions{},
                                           nn::MovingAverageBatchNormOptions{},
                                           nn::PowerNormOptions{},
                                           nn::NoNormOptions{}};
  for (const auto& cache : caches)
    for (const auto& norm : norms) {
      nn::TransformerBlock block(options, {{}, cache, norm});
      const at::Tensor x = at::randn({3, 5, 8}).requires_grad_();
      const at::Tensor y = block.forward(x, nn::AttentionArgs::self(options.layout));
      EXPECT_EQ(y.sizes(), x.sizes());
      y.sum().backward();
      EXPECT_TRUE(x.grad().isfinite().all().item<bool>()) << cache.index() << ' ' << norm.index();
      for (const auto& parameter : block.named_parameters()) {
        EXPECT_TRUE(parameter.value().grad().defined()) << parameter.key() << " is never trained";
      }
    }
}

}  // namespace
}  // namespace cachet
