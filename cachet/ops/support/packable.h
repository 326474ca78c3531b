#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

namespace cachet::ops {

/// A module whose weight can be packed for products (ops::packed_weight), for models that are only evaluated.
class Packable {
 public:
  virtual ~Packable() = default;

  /// Packs the weight. After this call, only matrix products can read the weight, and these products have no gradient.
  /// Returns the former weight.
  virtual at::Tensor pack() = 0;
  /// Restores the original weight, which pack() returned.
  virtual void unpack(const at::Tensor& weight) = 0;
};

/// Packed modules, each with its weight before packing.
using PackedModules = std::vector<std::pair<std::shared_ptr<torch::nn::Module>, at::Tensor>>;

/// Packs all Packable modules below `model`.
PackedModules pack_modules(const torch::nn::Module& model);
/// Restores the modules' former weights.
void unpack_modules(const PackedModules& packed);

}  // namespace cachet::ops
