#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cachet/nn/norm/norm.h"

/// Quantities of Cached Transformers (arXiv 2312.12742) and Unified Normalization (arXiv 2208.01313) that are observed
/// while a model trains. The quantities come from parameters and counters, without a forward pass. The tensors stay on
/// the model's device, so that a caller can copy all of them to the host at once.
namespace cachet::analysis {

/// The weight of the memory in each head of a cached attention layer.
struct CacheShare {
  std::string layer;  // "blocks.3.attn"
  at::Tensor shares;  // σ(λ) for each head, float64
};

/// Statistics of unified normalization over its training steps so far.
struct UnifiedNormSteps {
  std::string layer;           // "blocks.3.norm1"
  at::Tensor counters;         // argument of use(), on the model's device: int64 or float64
  bool by_channel = false;     // whether each channel has its own threshold
  int64_t channels_added = 1;  // number of channels over which the last two numbers of use() are summed

  /// Returns how many training steps used the window of the norm (NormWindowUse). `numbers` has the values of the
  /// tensor `counters`, copied to the host.
  nn::NormWindowUse use(std::span<const double> numbers) const;
};

/// Returns the cached attention layers in the order of the model's modules. Returns an empty list for a model without
/// cached attention layers.
std::vector<CacheShare> cache_shares(const torch::nn::Module& model);
/// Returns a model's unified norms. For a norm from outside the library, calls Norm::window_use(), which copies data
/// from the device.
std::vector<UnifiedNormSteps> unified_norm_steps(const torch::nn::Module& model);

}  // namespace cachet::analysis
