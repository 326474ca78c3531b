#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Both are (N), in float32 (float64 for float64), in nats; 0 for a row whose target is −1.
struct CrossEntropies {
  at::Tensor loss;                     ///< of the smoothed target, what is trained on
  at::Tensor negative_log_likelihood;  ///< of the target alone, what is reported; has no gradient
};

/// A linear layer and the cross entropy of its scores, which nothing else needs:
///   p = softmax(x·weightᵀ + bias),  negative_log_likelihood = −log p_target
///   loss = −(1 − ε − ε/(V − 1))·log p_target − ε/(V − 1)·Σ_v log p_v          with ε = label_smoothing
/// The other V − 1 classes share ε, as in fairseq; with ε = 0 the two are equal.
///
/// x (N, D), weight (V, D) of its dtype, bias (V) or none, target (N) of int64 in [−1, V), where −1 means that there is
/// no target.
/// ε in [0, 1), and 0 where V is 1. Differentiable once in x, weight and bias. On the CPU, in float32 and bfloat16, the
/// scores become the gradient's p − q where they lie, in the pass that sums them up: the backward pass is two products.
/// Throws c10::Error when shapes do not agree, or for a target that is not a class.
CrossEntropies linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias, const at::Tensor& target,
                                    double label_smoothing = 0.0);

}  // namespace cachet::ops
