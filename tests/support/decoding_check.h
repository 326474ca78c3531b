#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "cachet/nn/attention/attention.h"

namespace cachet::test {

/// Expects a causal layer, made float64 here, to give for 7 tokens of 8 channels what it gives for their pieces one
/// after the other. Returns the state after them.
inline std::shared_ptr<nn::AttentionState> expect_decoding_equals_whole(nn::Attention& attention, int64_t batch) {
  attention.to(at::kDouble);
  const at::Tensor x = at::randn({batch, 7, 8}, at::kDouble);
  nn::AttentionArgs whole;
  whole.causal = true;
  const at::Tensor expected = attention.forward(x, x, whole);
  auto state = attention.make_state(batch, nn::SessionUse::decoding);
  nn::AttentionArgs args = whole;
  args.state = state.get();
  constexpr std::array<int64_t, 4> kCuts{0, 3, 4, 7};
  for (size_t i = 0; i + 1 < kCuts.size(); ++i) {
    const at::Tensor piece = x.slice(1, kCuts[i], kCuts[i + 1]);
    EXPECT_TRUE(
        at::allclose(attention.forward(piece, piece, args), expected.slice(1, kCuts[i], kCuts[i + 1]), 1e-9, 1e-10))
        << "tokens " << kCuts[i] << " to " << kCuts[i + 1];
  }
  return state;
}

}  // namespace cachet::test
