#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/functions/block_sparse_attention.h"
#include "cachet/nn/attention/functions/lsh_attention.h"
#include "cachet/nn/attention/functions/performer_attention.h"
#include "tests/support/oracle.h"

namespace cachet {
namespace {

using test::Comparison;
using test::Oracle;

struct AttentionFixture : ::testing::TestWithParam<std::string> {
  const Oracle oracle = test::load_oracle(GetParam());

  // Both types: float64 is the unfused form, float32 the fused form.
  static constexpr std::array<at::ScalarType, 2> kTypes{at::kDouble, at::kFloat};
  Comparison comparison(const std::string& what, at::ScalarType dtype) const {
    return Comparison(oracle.name + " " + what, dtype == at::kFloat ? Comparison::kFloat32 : Comparison::kFloat64);
  }
  at::Tensor operand(const std::string& name, at::ScalarType dtype) const {
    return oracle[name].to(dtype, false, /*copy=*/true).requires_grad_();
  }
  nn::AttentionArgs padded_args() const {
    const at::Tensor padding = oracle["key_padding"].to(at::kBool);
    return nn::AttentionArgs::self({{}, 0, padding});
  }
  at::Tensor without_padded_rows(const at::Tensor& y) const {
    return y.masked_fill(oracle["key_padding"].to(at::kBool).unsqueeze(1).unsqueeze(3), 0);
  }
};

struct BigBirdFixture : AttentionFixture {
  nn::BigBirdOptions options() const { return {oracle.integer("block_size"), 3, oracle.integer("random")}; }
};

TEST_P(BigBirdFixture, OutputsAndGradientsAreReproduced) {
  for (const auto dtype : kTypes) {
    Comparison compare = comparison("", dtype);
    const at::Tensor q = operand("q", dtype), k = operand("k", dtype), v = operand("v", dtype);
    const at::Tensor y =
        without_padded_rows(nn::block_sparse_attention(q, k, v, oracle["random_blocks"], options(), padded_args()));
    (y * oracle["dy"]).sum().backward();
    compare.close(y, oracle["y"], "y");
    compare.close(q.grad(), oracle["grad.q"], "grad.q");
    compare.close(k.grad(), oracle["grad.k"], "grad.k");
    compare.close(v.grad(), oracle["grad.v"], "grad.v");
  }
}

TEST_P(BigBirdFixture, TheBlocksMetMakeItsMask) {
  const int64_t count = oracle.integer("blocks"), size = oracle.integer("block_size"), heads = oracle.integer("heads");
  const at::Tensor met = nn::big_bird_blocks(oracle["random_blocks"], count, 3);
  at::Tensor mask = at::ones({heads, count, count}, at::kByte);
  mask.narrow(1, 1, count - 2).zero_();
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < count - 2; ++row)
      for (int64_t i = 0; i < met.size(2); ++i)
        if (const auto block = met[head][row][i].item<int64_t>(); block >= 0) mask[head][row + 1][block] += 1;
  EXPECT_TRUE(at::equal(mask.repeat_interleave(size, 1).repeat_interleave(size, 2), oracle["mask"]))
      << "each block once, or a key would count twice";
}

INSTANTIATE_TEST_SUITE_P(Fixtures, BigBirdFixture, ::testing::ValuesIn(test::oracles({"attn_bigbird"})),
                         [](const auto& info) { return info.param; });

struct LshFixture : AttentionFixture {
  struct Case {
    std::string name, buckets;
    nn::LshScore score;
  };
  static const std::vector<Case>& cases() {
    static const std::vector<Case> all{{"unit", "buckets", nn::LshScore::unit},
                                       {"scaled", "buckets", nn::LshScore::scaled},
                                       {"rounds", "rounds.buckets", nn::LshScore::unit}};
    return all;
  }
};

TEST_P(LshFixture, OrdersOutputsAndGradientsAreReproduced) {
  for (const auto dtype : kTypes)
    for (const Case& c : cases()) {
      Comparison compare = comparison(c.name, dtype);
      const at::Tensor buckets = oracle[c.buckets];
      nn::LshOptions options;
      options.chunk_size = oracle.integer("chunk");
      options.rounds = buckets.size(2);
      options.score = c.score;
      const nn::AttentionArgs args = padded_args();
      const at::Tensor order = nn::lsh_order(buckets, args.query.padding);
      ASSERT_TRUE(at::equal(order, oracle[c.name + ".order"])) << c.name;
      const at::Tensor qk = operand("qk", dtype), v = operand("v", dtype);
      const at::Tensor y = without_padded_rows(nn::lsh_attention(qk, qk, v, order, order, options, args));
      (y * oracle["dy"]).sum().backward();
      compare.close(y, oracle[c.name + ".y"], c.name + ".y");
      compare.close(qk.grad(), oracle[c.name + ".grad.qk"], c.name + ".grad.qk");
      compare.close(v.grad(), oracle[c.name + ".grad.v"], c.name + ".grad.v");
    }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, LshFixture, ::testing::ValuesIn(test::oracles({"attn_reformer_lsh"})),
                         [](const auto& info) { return info.param; });

struct PerformerFixture : AttentionFixture {
  nn::PerformerOptions options(nn::RandomFeatures form) const {
    nn::PerformerOptions o;
    o.form = form;
    o.count = oracle.integer("features");
    o.eps = oracle.real(form == nn::RandomFeatures::relu ? "relu_eps" : "softmax_eps");
    return o;
  }
};

TEST_P(PerformerFixture, FeaturesOutputsAndGradientsAreReproduced) {
  for (const auto dtype : kTypes)
    for (const auto form : {nn::RandomFeatures::softmax, nn::RandomFeatures::relu})
      for (const bool causal : {false, true}) {
        const std::string kind = form == nn::RandomFeatures::relu ? "relu" : "softmax";
        const std::string name = kind + (causal ? "_causal" : "");
        Comparison compare = comparison(name, dtype);
        nn::PerformerAttention attention(options(form), oracle["q"].size(1), oracle["q"].size(3));
        attention.to(dtype);
        attention.projection.copy_(oracle["projection"]);
        const at::Tensor q = operand("q", dtype), k = operand("k", dtype), v = operand("v", dtype);
        if (oracle.has(kind + ".phi_q")) compare.close(attention.query_features(q), oracle[kind + ".phi_q"], "phi_q");
        if (oracle.has(kind + ".phi_k")) compare.close(attention.key_features(k, {}), oracle[kind + ".phi_k"], "phi_k");
        nn::AttentionArgs args;
        args.causal = causal;
        const at::Tensor y = attention.forward(q, k, v, args);
        (y * oracle["dy"]).sum().backward();
        compare.close(y, oracle[name + ".y"], "y");
        compare.close(q.grad(), oracle[name + ".grad.q"], "grad.q");
        compare.close(k.grad(), oracle[name + ".grad.k"], "grad.k");
        compare.close(v.grad(), oracle[name + ".grad.v"], "grad.v");
      }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PerformerFixture, ::testing::ValuesIn(test::oracles({"attn_performer"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
