#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <vector>

/// What the papers look at in a model while it trains, as plain values for reports. All of it is read from parameters
/// and counters: no forward pass is needed.
namespace cachet::analysis {

/// How much each head of a cached attention layer takes from its memory.
struct CacheShare {
  std::string layer;           // "blocks.3.attn"
  std::vector<double> shares;  // σ(λ), one a head
};

/// What unified normalization did in its training steps so far.
struct UnifiedNormSteps {
  std::string layer;        // "blocks.3.norm1"
  int64_t steps = 0;        // training steps
  double on_window = 0;     // of them, normalised with the window's mean
  double filtered = 0;      // of them, dropped by the outlier filter
  bool by_channel = false;  // whether each channel has its own threshold; then the last two are means over channels
};

/// In the order of the model's modules; empty for a model without such layers.
std::vector<CacheShare> cache_shares(const torch::nn::Module& model);
std::vector<UnifiedNormSteps> unified_norm_steps(const torch::nn::Module& model);

}  // namespace cachet::analysis
