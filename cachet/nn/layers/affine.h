#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::nn {

/// y = scale·x + shift, channel by channel. An offline norm is such a map at inference, and folding
/// merges it into the next linear layer.
struct Affine {
  at::Tensor scale, shift;  // (C)

  /// Applies the map to x (…, C), in the dtype of x.
  at::Tensor apply(const at::Tensor& x) const;
  /// Returns the map of the channels first … first + count − 1.
  Affine narrow(int64_t first, int64_t count) const;
};

/// Folds `before` into a linear map, or into an ungrouped convolution without padding. Writes the weight (N, C, …) and
/// bias (N) so that the result for x is the former result for before.apply(x). Computes in float64. Throws c10::Error,
/// whose message begins with `owner`, unless `before` has C channels.
void fold_input_affine(const char* owner, const Affine& before, const at::Tensor& weight, const at::Tensor& bias);

/// Folds `after` into a linear map or convolution. The result is then after.apply() of the former result. `weight`
/// is (N, …), and `after` has N channels.
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
