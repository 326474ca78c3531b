#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layers/affine.h"
#include "cachet/ops/support/packable.h"

namespace cachet::nn {

/// y = x·Wᵀ + b on (…, inputs), as one fused product even for three dimensions (two operations in torch::nn::Linear).
/// The initial W is truncated-normal (0.02), and b is zero.
class Linear : public Cloneable<Linear>, public ops::Packable {
 public:
  Linear(int64_t inputs, int64_t outputs, bool with_bias = true);
  /// Makes a layer from a weight (outputs, inputs) and a bias (outputs) without copies. The bias may be undefined.
  Linear(const torch::Tensor& weight, const torch::Tensor& bias);
  /// Returns y (…, outputs). Throws c10::Error unless x has `inputs` channels.
  torch::Tensor forward(const torch::Tensor& x) const;
  /// Folds `before` into the layer. The result for x is then the former one for before.apply(x). Adds a missing bias.
  void fold_affine_before(const Affine& before);
  [[deprecated("fold_affine_before")]] void absorb(const Affine& before) { fold_affine_before(before); }
  /// Folds `after` into the layer. The result is then after.apply() of the former result. Adds a missing bias.
  void fold_affine_after(const Affine& after);
  [[deprecated("fold_affine_after")]] void absorb_behind(const Affine& after) { fold_affine_after(after); }

  torch::Tensor pack() override;
  void unpack(const torch::Tensor& unpacked) override;
  /// Returns only the channels first … first + count − 1 of y.
  torch::Tensor forward_part(const torch::Tensor& x, int64_t first, int64_t count) const;

  /// Returns dtype and device of the weight, for new tensors without a gradient.
  torch::TensorOptions options() const;

  RegisteredTensor weight, bias;  // (outputs, inputs); (outputs) or undefined

 private:
  torch::Tensor bias_or_zeros() const;
  void keep_bias(const torch::Tensor& value);  // does nothing if the layer has a bias
};

/// Packs every layer of a model that can be packed (ops::Packable), permanently. train::InferenceScope
/// packs them for a scope.
void pack_linear_layers(const torch::nn::Module& model);

}  // namespace cachet::nn
