#include "cachet/nn/attention/functions/relative_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/layers/positions.h"
#include "cachet/nn/transformer_block.h"
#include "tests/support/gradient_check.h"
#include "tests/support/oracle.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using nn::RelativeAttention;
using nn::RelativeAttentionOptions;
using test::Comparison;
using test::expect_refused;
using test::Oracle;

// --- the published layer ---------------------------------------------------------------------------------------------

struct RelativeLayer {
  std::shared_ptr<RelativeAttention> attention;
  std::shared_ptr<nn::TransformerBlock> block;
};

RelativeLayer relative_layer(const Oracle& oracle, nn::NormPlace place) {
  const int64_t dim = oracle.integer("d_model"), heads = oracle.integer("n_head"), width = oracle.integer("d_head");
  RelativeAttentionOptions options{dim, heads};
  options.attention.head_dim = width;
  RelativeLayer layer;
  layer.attention = std::make_shared<RelativeAttention>(options, nn::RelativeBiases::make(heads, width));
  nn::TransformerBlockOptions block;
  block.dim = dim;
  block.norm_eps = oracle.real("norm_eps");
  block.norm_place = place;
  const nn::FeedForwardOptions feed_forward{dim, oracle.integer("d_inner"), 0.0, nn::Activation::relu};
  layer.block = std::make_shared<nn::TransformerBlock>(
      block, nn::PlugIns{}, nn::BlockParts{layer.attention, std::make_shared<nn::FeedForward>(feed_forward)});
  layer.block->to(at::kDouble);
  return layer;
}

std::string name_in_transformer_xl(const std::string& ours) {
  static const std::vector<std::pair<std::string, std::string>> parts{
      {"attn.content_bias", "r_w_bias"},   {"attn.position_bias", "r_r_bias"}, {"attn.qkv", "dec_attn.qkv_net"},
      {"attn.position", "dec_attn.r_net"}, {"attn.proj", "dec_attn.o_net"},    {"norm1", "dec_attn.layer_norm"},
      {"mlp.fc1", "pos_ff.CoreNet.0"},     {"mlp.fc2", "pos_ff.CoreNet.3"},    {"norm2", "pos_ff.layer_norm"}};
  for (const auto& [from, to] : parts)
    if (ours.starts_with(from)) return to + ours.substr(from.size());
  return ours;
}

TEST(TransformerXLOracle, TheLayerIsReproducedWithItsMemory) {
  const Oracle oracle = test::load_oracle("attn_transformer_xl");
  Comparison compare(oracle.name);
  const int64_t keys = oracle.integer("mlen") + oracle.integer("qlen"), dim = oracle.integer("d_model");
  const auto distances = [&](int64_t farthest) { return nn::distance_sinusoids(keys, dim, farthest, at::kDouble); };
  compare.close(distances(0), oracle["r"].view({keys, dim}), "r");
  compare.close(distances(oracle.integer("clamp_len")), oracle["r_clamped"].view({keys, dim}), "r_clamped");
  for (const bool post : {true, false})
    for (const bool same_length : {false, true}) {
      const std::string form = std::string(post ? "post." : "pre.") + (same_length ? "same_length." : "");
      const auto [attention, block] = relative_layer(oracle, post ? nn::NormPlace::after : nn::NormPlace::before);
      for (const auto& parameter : block->named_parameters()) {
        const at::NoGradGuard no_grad;
        parameter.value().copy_(oracle["param." + name_in_transformer_xl(parameter.key())]);
      }
      // The fixture's tensors are (length, batch, channels).
      const auto batch_rows = [](const at::Tensor& x) { return x.transpose(0, 1).contiguous(); };
      const at::Tensor x = batch_rows(oracle["x"]).requires_grad_(),
                       memory = batch_rows(oracle["mems"]).requires_grad_();
      const auto state = block->make_state(x.size(0), nn::SessionUse::memory);
      state->set("memory", memory);
      nn::AttentionArgs args;
      args.causal = true;
      args.state = state.get();
      args.relative = {distances(0), oracle[form + "mask"].to(at::kBool)};
      const at::Tensor y = block->forward(x, args);
      (y * batch_rows(oracle["dy"])).sum().backward();
      compare.close(batch_rows(y), oracle[form + "y"], form + "y");
      compare.close(batch_rows(x.grad()), oracle[form + "dx"], form + "dx");
      compare.close(batch_rows(memory.grad()), oracle[form + "dmems"], form + "dmems");
      for (const auto& parameter : block->named_parameters()) {
        const std::string name = form + "grad." + name_in_transformer_xl(parameter.key());
        compare.close(parameter.value().grad(), oracle[name], name);
      }
    }
}

// --- other properties ---------------------------------------------------------------------------------------

nn::RelativeLayout causal_positions(int64_t queries, int64_t keys, const at::Tensor& like) {
  return {nn::distance_sinusoids(keys, like.size(2), 0, like.options().requires_grad(false)),
          at::ones({queries, keys}, at::kBool).triu(keys - queries + 1)};
}

TEST(RelativeAttention, TokensOneAfterTheOtherGetWhatTheWholeGets) {
  const auto attention =
      std::make_shared<RelativeAttention>(RelativeAttentionOptions{8, 2}, nn::RelativeBiases::make(2, 4));
  attention->to(at::kDouble);
  const at::Tensor x = at::randn({3, 7, 8}, at::kDouble);
  nn::AttentionArgs args;
  args.causal = true;
  args.relative = causal_positions(7, 7, x);
  const at::Tensor whole = attention->forward(x, x, args);
  const auto state = attention->make_state(3, nn::SessionUse::decoding);
  args.state = state.get();
  int64_t first = 0;
  for (const int64_t length : {3, 1, 1, 2}) {
    const at::Tensor piece = x.narrow(1, first, length);
    args.relative = causal_positions(length, first + length, x);
    EXPECT_TRUE(at::allclose(attention->forward(piece, piece, args), whole.narrow(1, first, length), 0, 1e-12));
    first += length;
  }
}

TEST(RelativeAttention, KeptKeysAreAsGoodAsRememberedInputs) {
  for (const auto place : {nn::NormPlace::before, nn::NormPlace::after}) {
    nn::TransformerBlockOptions options;
    options.dim = 8;
    options.norm_place = place;
    const auto block = std::make_shared<nn::TransformerBlock>(
        options, nn::PlugIns{},
        nn::BlockParts{
            std::make_shared<RelativeAttention>(RelativeAttentionOptions{8, 2}, nn::RelativeBiases::make(2, 4)),
            std::make_shared<nn::FeedForward>(nn::FeedForwardOptions{8, 12})});
    block->to(at::kDouble);
    block->eval();
    const auto memory = block->make_state(2, nn::SessionUse::memory),
               keys = block->make_state(2, nn::SessionUse::decoding);
    memory->keep_last(5);
    keys->keep_last(5);
    const at::NoGradGuard no_grad;
    for (const int64_t length : {4, 4, 3, 6, 1}) {
      const at::Tensor x = at::randn({2, length, 8}, at::kDouble);
      ASSERT_EQ(memory->past(), keys->past());
      nn::AttentionArgs args;
      args.causal = true;
      args.relative = causal_positions(length, memory->past() + length, x);
      args.state = memory.get();
      const at::Tensor remembered = block->forward(x, args);
      args.state = keys.get();
      EXPECT_TRUE(at::allclose(block->forward(x, args), remembered, 0, 1e-12));
    }
    EXPECT_EQ(keys->past(), 5);
  }
}

TEST(RelativeAttention, GradientsEqualFiniteDifferences) {
  RelativeAttention attention({6, 2}, nn::RelativeBiases::make(2, 3));
  attention.to(at::kDouble);
  const at::Tensor weight = at::randn({2, 3, 6}, at::kDouble);
  test::expect_gradients(
      [&](const auto& in) {
        nn::AttentionArgs args;
        args.relative = causal_positions(3, 5, in[0]);
        args.relative.distances = in[1];
        return (attention.forward(in[0].narrow(1, 2, 3), in[0], args) * weight).sum();
      },
      {at::randn({2, 5, 6}), at::randn({5, 6})});
}

TEST(RelativeAttention, NamesWhatItRefuses) {
  const auto biases = nn::RelativeBiases::make(2, 4);
  const auto refuses = [&](const char* why, const RelativeAttentionOptions& options) {
    expect_refused([&] { RelativeAttention made(options, biases); }, why);
  };
  refuses("dim must be at least 1", {0, 2});
  refuses("num_heads must be at least 1", {8, 0});
  refuses("num_heads must divide dim, but 3 does not divide 8", {8, 3});
  refuses("biases must be (H, d) = (4, 2)", {8, 4});
  refuses("head_dim must be at least 0", {8, 2, {.head_dim = -1}});
  refuses("choose kind = softmax", {8, 2, {.function = nn::EluOptions{}}});
  refuses("relative_attention: dropout", {8, 2, {.function = nn::SoftmaxOptions{1.0}}});
  expect_refused([] { nn::distance_sinusoids(3, 5, 0, at::kFloat); },
                 "the number of channels must be even, for sines and cosines, got 5");

  RelativeAttention attention({8, 2}, biases);
  const at::Tensor x = at::randn({2, 3, 8});
  nn::AttentionArgs args;
  expect_refused([&] { attention.forward(x, x, args); }, "args.relative.distances must be (3, 8)");
  args.relative = causal_positions(3, 4, x);
  expect_refused([&] { attention.forward(x, x, args); }, "args.relative.distances must be (3, 8), got [4, 8]");
  args.relative = causal_positions(3, 3, x);
  expect_refused([&] { attention.forward(x, x.narrow(1, 0, 2), args); },
                 "the query must be the last tokens of the context");
  args.bias = at::zeros({3, 3});
  expect_refused([&] { attention.forward(x, x, args); }, "cannot use padding or an attention bias");
  expect_refused([&] { attention.make_state(2, nn::SessionUse::fixed_context); }, "cannot have a fixed context");
  expect_refused([&] { attention.fold_affine_before(nn::Affine{at::ones({4}), at::zeros({4})}); }, "channels, got 4");
}

}  // namespace
}  // namespace cachet
