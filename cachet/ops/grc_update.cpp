#include "cachet/ops/grc_update.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <torch/library.h>

#include "cachet/ops/dispatch.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

void check_linear(const char* name, const Tensor& weight, const OptionalTensor& bias, int64_t width) {
  TORCH_CHECK(weight.dim() == 2 && weight.size(0) == width && weight.size(1) == 2 * width, "grc_update: ", name,
              " must be (Dm, 2·Dm) = (", width, ", ", 2 * width, "), got ", weight.sizes());
  TORCH_CHECK(!bias || (bias->dim() == 1 && bias->size(0) == width), "grc_update: the bias of ", name,
              " must be (Dm) = (", width, "), got ", bias->sizes());
}

void check(const Tensor& cache, const Tensor& tokens) {
  TORCH_CHECK(tokens.dim() == 3, "grc_update: tokens must be (B, Tm, Dm), got ", tokens.sizes());
  TORCH_CHECK(cache.dim() == 3 && cache.sizes().slice(1) == tokens.sizes().slice(1) &&
                  (cache.size(0) == 1 || cache.size(0) == tokens.size(0)),
              "grc_update: cache must be (1, Tm, Dm) or (B, Tm, Dm) for tokens ", tokens.sizes(), ", got ",
              cache.sizes());
}

// The columns of a weight over [cache, tokens] that meet the one and the other.
Tensor cache_half(const Tensor& weight) { return weight.narrow(1, 0, weight.size(1) / 2); }
Tensor token_half(const Tensor& weight) { return weight.narrow(1, weight.size(1) / 2, weight.size(1) / 2); }

Tensor grc_update_composite(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                            const OptionalTensor& reset_bias, const Tensor& update_weight,
                            const OptionalTensor& update_bias, const Tensor& candidate_weight,
                            const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                            const OptionalTensor& norm_bias, double norm_eps) {
  check(cache, tokens);
  const int64_t width = tokens.size(2);
  check_linear("reset_weight", reset_weight, reset_bias, width);
  check_linear("update_weight", update_weight, update_bias, width);
  check_linear("candidate_weight", candidate_weight, candidate_bias, width);
  TORCH_CHECK(reset_bias.has_value() == update_bias.has_value(), "grc_update: give both gates a bias, or neither");
  TORCH_CHECK(norm_weight.has_value() == norm_bias.has_value(),
              "grc_update: give norm_weight and norm_bias, or neither");

  const Tensor gate_weight = at::cat({reset_weight, update_weight});
  const OptionalTensor gate_bias = reset_bias ? OptionalTensor(at::cat({*reset_bias, *update_bias})) : std::nullopt;
  // Products want one dtype; under autocast they choose it themselves, otherwise it is that of the weights.
  const auto as_weight = [&](const Tensor& x) { return x.to(reset_weight.scalar_type()); };
  const Tensor gates = (at::linear(as_weight(cache), cache_half(gate_weight), gate_bias) +
                        at::linear(as_weight(tokens), token_half(gate_weight)))
                           .sigmoid();
  const Tensor reset = gates.narrow(2, 0, width), update = gates.narrow(2, width, width);
  Tensor candidate = at::linear(as_weight(reset * cache), cache_half(candidate_weight)) +
                     at::linear(as_weight(tokens), token_half(candidate_weight), candidate_bias);
  if (norm_weight) candidate = at::layer_norm(at::gelu(candidate), {width}, norm_weight, norm_bias, norm_eps);
  return (1 - update) * cache + update * candidate;
}

}  // namespace

Tensor grc_update(const Tensor& cache, const Tensor& tokens, const GateWeights& reset, const GateWeights& update,
                  const GateWeights& candidate, const std::optional<CandidateNorm>& norm) {
  static const auto op = operator_handle<decltype(grc_update_composite)>("cachet::grc_update");
  return op.call(cache, tokens, reset.weight, reset.bias, update.weight, update.bias, candidate.weight, candidate.bias,
                 norm ? OptionalTensor(norm->weight) : std::nullopt, norm ? OptionalTensor(norm->bias) : std::nullopt,
                 norm ? norm->eps : 1e-5);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  m.def(
      "grc_update(Tensor cache, Tensor tokens, Tensor reset_weight, Tensor? reset_bias, Tensor update_weight, "
      "Tensor? update_bias, Tensor candidate_weight, Tensor? candidate_bias, Tensor? norm_weight=None, "
      "Tensor? norm_bias=None, float norm_eps=1e-05) -> Tensor");
}
TORCH_LIBRARY_IMPL(cachet, CompositeImplicitAutograd, m) { m.impl("grc_update", grc_update_composite); }

}  // namespace cachet::ops
