#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Losses (N) in nats, in float32 (float64 if the operands are float64). If the target of a row is −1, the loss of the
/// row is 0.
struct CrossEntropies {
  at::Tensor loss;                     ///< loss of the smoothed target, for training
  at::Tensor negative_log_likelihood;  ///< −log p of the target, for reports; has no gradient
};

/// A linear layer, and the cross entropy of its scores. Use this operator if the scores are needed only for the loss:
///   p = softmax(x·weightᵀ + bias),  negative_log_likelihood = −log p_target
///   loss = −(1 − ε − ε/(V − 1))·log p_target − ε/(V − 1)·Σ_v log p_v          with ε = label_smoothing.
/// Each of the V − 1 other classes gets an equal part of ε, as in fairseq. If ε is 0, `loss` and
/// `negative_log_likelihood` are equal.
///
/// x (N, D), weight (V, D) of the dtype of x, bias (V) or none, target (N) int64 in [−1, V), where −1
/// means no target. ε is in [0, 1), and 0 if V is 1. Differentiable once in x, weight and bias. On
/// the CPU, in float32 and bfloat16, the pass that sums up the scores also writes the gradient p − q
/// over the scores; the backward pass is then only two products. Throws c10::Error if shapes do not
/// agree, or if a target is not a class.
CrossEntropies linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias, const at::Tensor& target,
                                    double label_smoothing = 0.0);

}  // namespace cachet::ops
