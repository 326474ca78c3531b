#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layers/affine.h"
#include "cachet/ops/support/packable.h"

namespace cachet::nn {

/// A linear layer: y = x·Wᵀ + b on (…, inputs), computed as one fused product. For an input of three dimensions,
/// torch::nn::Linear adds the bias in a second operation. Initially, W is truncated-normal (0.02) and b is zero.
class Linear : public Cloneable<Linear>, public ops::Packable {
 public:
  Linear(int64_t inputs, int64_t outputs, bool with_bias = true);
  /// Makes a layer from the tensors `weight` (outputs, inputs) and `bias` (outputs), without copies. The bias may be
  /// undefined.
  Linear(const torch::Tensor& weight, const torch::Tensor& bias);
  /// Returns y (…, outputs). Throws c10::Error unless x has `inputs` channels.
  torch::Tensor forward(const torch::Tensor& x) const;
  /// Folds the affine map `before` into the layer. After this call, the layer returns for x what it returned earlier
  /// for before.apply(x). If the layer has no bias, the call adds a bias.
  void fold_affine_before(const Affine& before);
  [[deprecated("fold_affine_before")]] void absorb(const Affine& before) { fold_affine_before(before); }
  /// Folds the affine map `after` into the layer, whose result is then after.apply() of its earlier result. If the
  /// layer has no bias, it gets one.
  void fold_affine_after(const Affine& after);
  [[deprecated("fold_affine_after")]] void absorb_behind(const Affine& after) { fold_affine_after(after); }

  torch::Tensor pack() override;
  void unpack(const torch::Tensor& unpacked) override;
  /// Returns only the channels of the output y from `first` to first + count − 1.
  torch::Tensor forward_part(const torch::Tensor& x, int64_t first, int64_t count) const;

  /// Returns dtype and device of the weight, for new tensors without a gradient.
  torch::TensorOptions options() const;

  RegisteredTensor weight, bias;  // (outputs, inputs); (outputs) or undefined

 private:
  torch::Tensor bias_or_zeros() const;
  void keep_bias(const torch::Tensor& value);  // changes nothing if the layer has a bias
};

/// Packs all layers of a model that can be packed (ops::Packable), permanently. If the layers are to be packed only
/// within a scope, use train::InferenceScope.
void pack_linear_layers(const torch::nn::Module& model);

}  // namespace cachet::nn
