#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Losses (N), in float32 (float64 for float64), in nats; 0 for a row whose target is −1.
struct CrossEntropies {
  at::Tensor loss;                     ///< loss of the smoothed target, for training
  at::Tensor negative_log_likelihood;  ///< −log p of the target, for reports; has no gradient
};

/// A linear layer and the cross entropy of its scores, for scores that have no other use:
///   p = softmax(x·weightᵀ + bias),  negative_log_likelihood = −log p_target
///   loss = −(1 − ε − ε/(V − 1))·log p_target − ε/(V − 1)·Σ_v log p_v          with ε = label_smoothing
/// The other V − 1 classes get equal parts of ε, as in fairseq; with ε = 0, both losses are equal.
///
/// x (N, D), weight (V, D) of its dtype, bias (V) or none, target (N) of int64 in [−1, V), where −1
/// means no target. ε is in [0, 1), and 0 if V is 1. Differentiable once in x, weight and bias. On
/// the CPU, in float32 and bfloat16, the pass that sums up the scores also replaces them in memory by
/// the gradient's p − q: the backward pass is then two products. Throws c10::Error if shapes do not
/// agree, or if a target is not a class.
CrossEntropies linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias, const at::Tensor& target,
                                    double label_smoothing = 0.0);

}  // namespace cachet::ops
