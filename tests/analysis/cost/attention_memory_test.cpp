#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/analysis/cost/live_memory.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/ops/support/fused.h"
#include "tests/support/attention_functions.h"

namespace cachet::analysis {
namespace {

constexpr int64_t kTokens = 4096, kHeadDim = 8;

int64_t peak_of(nn::AttentionFunction& function, int64_t tokens) {
  const auto operand = [&] { return at::randn({1, 1, tokens, kHeadDim}).requires_grad_(); };
  const at::Tensor q = operand(), k = operand(), v = operand();
  const LiveMemory memory;
  function.forward(q, k, v, {}).sum().backward();
  function.forward(q, q, v, {}).sum().backward();
  return memory.peak_bytes();
}

std::vector<test::NamedFunction> long_range_functions() {
  return {{"elu", nn::EluOptions{}},         {"kernel", nn::KernelOptions{}}, {"performer", nn::PerformerOptions{}},
          {"bigbird", nn::BigBirdOptions{}}, {"reformer", nn::LshOptions{}},  {"local", nn::LocalOptions{64}}};
}

// A quarter of all pairs of 4,096 tokens would be 16 MiB of float32. The operands are 128 KiB each.
TEST(AttentionMemory, NoLongRangeFunctionLooksAtAllPairs) {
  for (const auto& [name, options] : long_range_functions()) {
    const auto function = nn::make_attention_function(options, 1, kHeadDim);
    const int64_t peak = peak_of(*function, kTokens);
    EXPECT_LT(peak, kTokens * kTokens / 4 * int64_t{sizeof(float)}) << name;
    // Constant parts make it less than twice, what happens to be alive at the peak a little more; a square, four times.
    EXPECT_LT(peak, 2.5 * static_cast<double>(peak_of(*function, kTokens / 2))) << name;
  }
}

TEST(AttentionMemory, NorDoesTheCompositionOnDevicesWithoutAKernel) {
  const ops::CompositeOnly composite;
  for (const auto& [name, options] : long_range_functions()) {
    const auto function = nn::make_attention_function(options, 1, kHeadDim);
    EXPECT_LT(static_cast<double>(peak_of(*function, kTokens)),
              2.5 * static_cast<double>(peak_of(*function, kTokens / 2)))
        << name;
  }
}

}  // namespace
}  // namespace cachet::analysis
