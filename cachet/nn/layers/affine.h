#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::nn {

/// The map y = scale·x + shift, channel by channel. At inference, an offline norm is a map of the form y = scale·x +
/// shift. Folding a norm merges this affine map into the next linear layer.
struct Affine {
  at::Tensor scale, shift;  // (C)

  /// Applies the map to x (…, C), in the dtype of x.
  at::Tensor apply(const at::Tensor& x) const;
  /// Returns the affine map for only the channels `first` to first + count − 1.
  Affine narrow(int64_t first, int64_t count) const;
};

/// Folds the affine map `before` into a linear map, or into a convolution without groups and padding. Changes weight
/// (N, C, …) and bias (N) so that the result for x equals the earlier result for before.apply(x). Computes in float64.
/// Throws c10::Error unless `before` has C channels. The message begins with `owner`.
void fold_input_affine(const char* owner, const Affine& before, const at::Tensor& weight, const at::Tensor& bias);

/// Folds `after` into a linear map or a convolution, so that the new result is after.apply() of the previous result.
/// `weight` is (N, …), and `after` has N channels.
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
