#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "cachet/ops/fused.h"

namespace cachet::ops {

// One step of the gated recurrent cache on the CPU: three products, ATen's, and between them a pass over memory before
// the candidate's product and one behind it. ops/grc_update.h has the formulas.

/// Operands of one call, checked: cache (1 or B, Tm, Dm), tokens (B, Tm, Dm), weights (Dm, 2·Dm) over [cache, tokens],
/// biases and the candidate's norm (Dm) where there are any. The backward pass does not read the gates' biases.
struct GrcUpdateCall {
  at::Tensor cache, tokens, reset_weight, update_weight, candidate_weight;
  std::optional<at::Tensor> reset_bias, update_bias, candidate_bias, norm_weight, norm_bias;
  double norm_eps;
};

/// Where the fused kernels serve these operands: they read tokens and weights of one type and a float32 cache. A
/// sample's own cache is stream state, whose successors must not be rounded to bfloat16.
FusedOn grc_update_fused_on(const GrcUpdateCall& call);

/// The products are what the backward pass reads: X̄ with all weights (B, Tm, 3·Dm), C with those of the gates, biases
/// added (1 or B, Tm, 2·Dm), r ⊙ C with the candidate's (B, Tm, Dm).
struct GrcProducts {
  at::Tensor tokens, cache, reset;
};

struct GrcStep {
  at::Tensor samples;  // (B, Tm, Dm)
  at::Tensor mean;     // (1, Tm, Dm)
  GrcProducts products;
};

GrcStep grc_update_forward(const GrcUpdateCall& call);

/// Gradients of the operands; those of a norm that is not there are empty.
struct GrcUpdateGradients {
  at::Tensor cache, tokens, reset_weight, update_weight, candidate_weight;
  at::Tensor gate_bias;  // (2·Dm): reset, update
  at::Tensor candidate_bias, norm_weight, norm_bias;
};

/// d_samples, d_mean: undefined where nothing arrives.
GrcUpdateGradients grc_update_gradients(const GrcUpdateCall& call, const at::Tensor& d_samples,
                                        const at::Tensor& d_mean, const GrcProducts& products);

}  // namespace cachet::ops
