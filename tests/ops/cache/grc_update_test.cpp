#include "cachet/ops/cache/grc_update.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

struct GrcInputs {
  at::Tensor cache, tokens;
  ops::GateWeights reset, update, candidate;
  std::optional<ops::CandidateNorm> norm;
};

GrcInputs random_inputs(int64_t batch, int64_t cache_batch, int64_t length, int64_t width, bool with_norm) {
  const auto d = at::kDouble;
  const auto gate = [&] { return ops::GateWeights{at::randn({width, 2 * width}, d), at::randn({width}, d)}; };
  GrcInputs in{
      at::randn({cache_batch, length, width}, d), at::randn({batch, length, width}, d), gate(), gate(), gate(), {}};
  if (with_norm) in.norm = ops::CandidateNorm{at::randn({width}, d), at::randn({width}, d)};
  return in;
}

at::Tensor run(const GrcInputs& in) {
  return ops::grc_update(in.cache, in.tokens, in.reset, in.update, in.candidate, in.norm).samples;
}

// Eq. 4-5 as the paper writes them: every product over the whole concatenation, sample by sample.
at::Tensor by_the_equations(const GrcInputs& in) {
  const at::Tensor cache = in.cache.expand_as(in.tokens), joined = at::cat({cache, in.tokens}, 2);
  const at::Tensor r = at::linear(joined, in.reset.weight, in.reset.bias).sigmoid();
  const at::Tensor u = at::linear(joined, in.update.weight, in.update.bias).sigmoid();
  at::Tensor c = at::linear(at::cat({r * cache, in.tokens}, 2), in.candidate.weight, in.candidate.bias);
  if (in.norm) c = at::layer_norm(at::gelu(c), {c.size(2)}, in.norm->weight, in.norm->bias, in.norm->eps);
  return (1 - u) * cache + u * c;
}

TEST(GrcUpdate, EqualsTheEquationsOverShapes) {
  for (const bool norm : {false, true})
    for (const int64_t cache_batch : {1, 3})
      for (const int64_t length : {0, 1, 5}) {
        const GrcInputs in = random_inputs(3, cache_batch, length, 4, norm);
        // Split products add up in another order: a few roundings of float64.
        EXPECT_TRUE(at::allclose(run(in), by_the_equations(in), 1e-12, 1e-12))
            << cache_batch << ' ' << length << ' ' << norm;
      }
}

TEST(GrcUpdate, GradientEqualsFiniteDifferences) {
  for (const bool with_norm : {false, true}) {
    const GrcInputs in = random_inputs(2, 1, 2, 2, with_norm);
    const at::Tensor weight = at::randn({2, 2, 2}, at::kDouble);
    std::vector<at::Tensor> tensors{in.cache,         in.tokens,       in.reset.weight,     *in.reset.bias,
                                    in.update.weight, *in.update.bias, in.candidate.weight, *in.candidate.bias};
    if (with_norm) tensors.insert(tensors.end(), {in.norm->weight, in.norm->bias});
    test::expect_gradients(
        [&](const auto& t) {
          GrcInputs x{t[0], t[1], {t[2], t[3]}, {t[4], t[5]}, {t[6], t[7]}, {}};
          if (with_norm) x.norm = ops::CandidateNorm{t[8], t[9]};
          return (run(x) * weight).sum();
        },
        tensors);
  }
}

TEST(GrcUpdate, TheMeanIsThatOfTheSamples) {
  for (const int64_t cache_batch : {1, 3}) {
    const GrcInputs in = random_inputs(3, cache_batch, 5, 4, true);
    const auto [samples, mean] = ops::grc_update(in.cache, in.tokens, in.reset, in.update, in.candidate, in.norm);
    EXPECT_TRUE(at::allclose(mean, samples.mean(0, true), 1e-12, 1e-12));
  }
}

TEST(GrcUpdate, KeepsTheCachesPrecisionBesideNarrowWeights) {
  GrcInputs in = random_inputs(2, 1, 3, 4, true);
  const auto narrow = [](at::Tensor t) { return t.to(at::kBFloat16); };
  for (auto* gate : {&in.reset, &in.update, &in.candidate}) *gate = {narrow(gate->weight), narrow(*gate->bias)};
  in.norm = ops::CandidateNorm{narrow(in.norm->weight), narrow(in.norm->bias)};
  in.tokens = narrow(in.tokens);
  in.cache = in.cache.to(at::kFloat);
  const auto updated = [&] { return ops::grc_update(in.cache, in.tokens, in.reset, in.update, in.candidate, in.norm); };
  EXPECT_EQ(updated().samples.scalar_type(), at::kBFloat16) << "attention reads them";
  EXPECT_EQ(updated().mean.scalar_type(), at::kFloat) << "the next step reads it";
  in.cache = in.cache.repeat({2, 1, 1});
  EXPECT_EQ(updated().samples.scalar_type(), at::kFloat) << "each sample's next step reads its own";
}

TEST(GrcUpdate, FusedEqualsComposite) {
  using test::Tensors;
  for (const bool with_norm : {false, true})
    for (const bool with_bias : {false, true})
      for (const int64_t cache_batch : {1, 3})  // a cache each has a fused form in float32 alone
        for (const auto& [length, width] : {std::pair<int64_t, int64_t>{0, 4}, {1, 1}, {5, 16}, {17, 31}}) {
          const auto weight = [w = width] { return at::randn({w, 2 * w}) * 0.5; };
          const at::Tensor strided = at::randn({3, length, 2 * width}).narrow(2, 0, width);
          Tensors inputs{at::randn({cache_batch, length, width}), strided, weight(), weight(), weight()};
          for (int i = 0; i < 5; ++i) inputs.push_back(at::randn({width}));
          test::expect_fused_equals_composite(
              [&](const Tensors& in) -> Tensors {
                const auto bias = [&](size_t i) { return with_bias ? std::optional(in[i]) : std::nullopt; };
                std::optional<ops::CandidateNorm> norm;
                // A norm over few channels multiplies whatever is off; a wide ε keeps the comparison one of kernels.
                if (with_norm) norm = ops::CandidateNorm{in[8], in[9], 1.0};
                // The cache is float32 whatever the tokens are.
                const auto [samples, mean] = ops::grc_update(in[0].to(at::kFloat), in[1], {in[2], bias(5)},
                                                             {in[3], bias(6)}, {in[4], bias(7)}, norm);
                return {samples.to(at::kFloat), mean};
              },
              inputs, "length " + std::to_string(length) + ", width " + std::to_string(width));
        }
}

TEST(GrcUpdate, NamesWhatItRefuses) {
  const GrcInputs good = random_inputs(2, 1, 3, 4, true);
  const auto with = [&](const auto& change, const std::string& text) {
    GrcInputs bad = good;
    change(bad);
    expect_refused([&] { run(bad); }, text);
  };
  with([](GrcInputs& in) { in.tokens = in.tokens[0]; }, "tokens must be (B, Tm, Dm)");
  with([](GrcInputs& in) { in.cache = at::randn({3, 3, 4}, at::kDouble); }, "cache must be (1, Tm, Dm) or (B, Tm, Dm)");
  with(
      [](GrcInputs& in) {
        in.update.weight = at::randn({4, 4}, at::kDouble);
      },
      "update_weight must be (Dm, 2·Dm) = (4, 8)");
  with([](GrcInputs& in) { in.candidate.bias = at::randn({3}, at::kDouble); },
       "bias of candidate_weight must be (Dm) = (4)");
  with([](GrcInputs& in) { in.cache = in.cache.to(at::kMeta); }, "cache is on meta, but other operands are on cpu");
  with([](GrcInputs& in) { in.reset.bias.reset(); }, "give both gates a bias, or neither");
}

}  // namespace
}  // namespace cachet
