#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layers/affine.h"
#include "cachet/ops/support/packable.h"

namespace cachet::nn {

/// y = x·Wᵀ + b on (…, inputs), one fused product also for three dimensions (torch::nn::Linear makes two of it).
/// W starts truncated-normal (0.02), b zero.
class Linear : public Cloneable<Linear>, public ops::Packable {
 public:
  Linear(int64_t inputs, int64_t outputs, bool with_bias = true);
  /// Makes a layer of a weight (outputs, inputs) and a bias (outputs), undefined for none, without copying them.
  Linear(const torch::Tensor& weight, const torch::Tensor& bias);
  /// Throws c10::Error unless x has that many channels.
  torch::Tensor forward(const torch::Tensor& x) const;
  /// From now on the layer does to x what it did to before.apply(x). A layer without a bias gets one.
  void fold_affine_before(const Affine& before);
  [[deprecated("fold_affine_before")]] void absorb(const Affine& before) { fold_affine_before(before); }
  /// From now on the layer gives what after.apply() made of its result. A layer without a bias gets one.
  void fold_affine_after(const Affine& after);
  [[deprecated("fold_affine_after")]] void absorb_behind(const Affine& after) { fold_affine_after(after); }

  torch::Tensor pack() override;
  void unpack(const torch::Tensor& unpacked) override;
  /// y's channels from `first` on alone.
  torch::Tensor forward_part(const torch::Tensor& x, int64_t first, int64_t count) const;

  /// Type and device of the weight, for tensors that lie as others do and have no gradient.
  torch::TensorOptions options() const;

  RegisteredTensor weight, bias;  // (outputs, inputs); (outputs) or undefined

 private:
  torch::Tensor bias_or_zeros() const;
  void keep_bias(const torch::Tensor& value);  // where there was none
};

/// Packs every layer of a model that can be packed (ops::Packable), for good. train::InferenceScope packs them for a
/// scope.
void pack_linear_layers(const torch::nn::Module& model);

}  // namespace cachet::nn
