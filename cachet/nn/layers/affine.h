#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::nn {

/// y = scale·x + shift, channel by channel: what an offline norm is at inference, and what folding merges into the next
/// linear layer.
struct Affine {
  at::Tensor scale, shift;  // (C)

  /// x (…, C) through the map, in the dtype of x.
  at::Tensor apply(const at::Tensor& x) const;
  /// The map of `count` channels from `first` on.
  Affine narrow(int64_t first, int64_t count) const;
};

/// Writes the weight (N, C, …) and the bias (N) of a linear map, or of a convolution in one group that reads no
/// padding, so that it does to x what it did to before.apply(x). Arithmetic is in float64. Throws c10::Error, opening
/// with `owner`, unless `before` has C channels.
void fold_input_affine(const char* owner, const Affine& before, const at::Tensor& weight, const at::Tensor& bias);

/// The same for what follows: the map or convolution then gives what after.apply() made of its result. `weight` is
/// (N, …), `after` has N channels.
void fold_output_affine(const char* owner, const Affine& after, const at::Tensor& weight, const at::Tensor& bias);

[[deprecated("fold_input_affine")]] inline void absorb_affine(const char* owner, const Affine& before,
                                                              const at::Tensor& weight, const at::Tensor& bias) {
  fold_input_affine(owner, before, weight, bias);
}
[[deprecated("fold_output_affine")]] inline void absorb_affine_behind(const char* owner, const Affine& after,
                                                                      const at::Tensor& weight,
                                                                      const at::Tensor& bias) {
  fold_output_affine(owner, after, weight, bias);
}

}  // namespace cachet::nn
