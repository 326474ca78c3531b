#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

namespace cachet::ops {

/// A module whose weight can be laid out once for products (ops::packed_weight), for models that only answer.
class Packable {
 public:
  virtual ~Packable() = default;

  /// Lays out the weight: products alone can read it then, and they have no gradient. Returns the weight of before.
  virtual at::Tensor pack() = 0;
  /// Takes back what pack() returned.
  virtual void unpack(const at::Tensor& weight) = 0;
};

/// Modules that were packed, each with the weight that it had before.
using PackedModules = std::vector<std::pair<std::shared_ptr<torch::nn::Module>, at::Tensor>>;

/// Packs all modules below `model` that are Packable.
PackedModules pack_modules(const torch::nn::Module& model);
/// Gives them the weights of before.
void unpack_modules(const PackedModules& packed);

}  // namespace cachet::ops
