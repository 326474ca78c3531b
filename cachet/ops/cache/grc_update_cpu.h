#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops {

enum class FusedOn;  // ops/support/fused.h

// One step of the gated recurrent cache on the CPU: three products of ATen, one pass over memory before the candidate's
// product, and one pass after it. ops/cache/grc_update.h has the formulas.

/// The operands of one call, in the order of the schema: cache (1 or B, Tm, Dm), tokens (B, Tm, Dm), weights (Dm, 2·Dm)
/// for [cache, tokens], and optionally biases and the candidate's norm (Dm).
struct GrcUpdateCall {
  at::Tensor cache, tokens;
  at::Tensor reset_weight;
  OptionalTensor reset_bias;
  at::Tensor update_weight;
  OptionalTensor update_bias;
  at::Tensor candidate_weight;
  OptionalTensor candidate_bias, norm_weight, norm_bias;
  double norm_eps;

  template <class Take>
  auto list(const Take& take) const {
    return take(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight, candidate_bias,
                norm_weight, norm_bias, norm_eps);
  }
};

/// Returns the device whose fused kernels can compute with the operands of the call. The kernels read tokens and
/// weights of the same dtype, and a float32 cache. If each sample has its own cache (in a session), the kernels read
/// only float32 tokens, because updates of the cache must not be rounded to bfloat16.
FusedOn grc_update_fused_on(const GrcUpdateCall& call);

/// The products that the backward pass reads. tokens (B, Tm, 3·Dm): X̄ times all weights. cache (1 or B, Tm, 2·Dm): C
/// times the gates' weights, plus biases. reset (B, Tm, Dm): r ⊙ C times the candidate's weight.
struct GrcProducts {
  at::Tensor tokens, cache, reset;
};

struct GrcStep {
  at::Tensor samples;  // (B, Tm, Dm)
  at::Tensor mean;     // (1, Tm, Dm)
  GrcProducts products;
};

GrcStep grc_update_forward(const GrcUpdateCall& call);

/// The gradients of the operands. If the candidate has no norm, the gradients of the norm's weight and bias are empty.
struct GrcUpdateGradients {
  at::Tensor cache, tokens, reset_weight, update_weight, candidate_weight;
  at::Tensor gate_bias;  // (2·Dm): reset, update
  at::Tensor candidate_bias, norm_weight, norm_bias;
};

/// grc_update_gradients() does not read the gates' biases. If `samples` has no gradient, d_samples is absent. If `mean`
/// has no gradient, d_mean is absent.
GrcUpdateGradients grc_update_gradients(const GrcUpdateCall& call, const OptionalTensor& d_samples,
                                        const OptionalTensor& d_mean, const GrcProducts& products);

}  // namespace cachet::ops
