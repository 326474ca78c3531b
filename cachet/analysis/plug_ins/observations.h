#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cachet/nn/norm/norm.h"

/// What the papers look at in a model while it trains. It comes from parameters and counters: no forward pass is
/// needed. The tensors stay on the model's device, so that a caller can copy all of them to the host at once.
namespace cachet::analysis {

/// How much each head of a cached attention layer takes from its memory.
struct CacheShare {
  std::string layer;  // "blocks.3.attn"
  at::Tensor shares;  // σ(λ), one a head, float64
};

/// What unified normalization did in its training steps so far.
struct UnifiedNormSteps {
  std::string layer;           // "blocks.3.norm1"
  at::Tensor counters;         // int64 or float64: what use() takes
  bool by_channel = false;     // whether each channel has its own threshold
  int64_t channels_added = 1;  // the last two numbers of use() are sums over so many channels

  /// numbers: those of `counters`, on the host.
  nn::NormWindowUse use(std::span<const double> numbers) const;
};

/// In the order of the model's modules; empty for a model without such layers.
std::vector<CacheShare> cache_shares(const torch::nn::Module& model);
/// A norm outside the library that overrides Norm::window_use() reads its counters from the device here.
std::vector<UnifiedNormSteps> unified_norm_steps(const torch::nn::Module& model);

}  // namespace cachet::analysis
