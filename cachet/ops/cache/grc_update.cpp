#include "cachet/ops/cache/grc_update.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/ops/cache/grc_update_cpu.h"
#include "cachet/ops/cache/grc_weights.h"
#include "cachet/ops/support/call.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

// samples, mean, and the products that the backward pass reads: X̄ with all weights (B, Tm, 3·Dm), C with those of the
// gates, biases added (1 or B, Tm, 2·Dm), r ⊙ C with the candidate's (B, Tm, Dm)
using GrcUpdateForward = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

void check_linear(const char* name, const Tensor& weight, const OptionalTensor& bias, const c10::SymInt& width) {
  TORCH_CHECK(weight.dim() == 2 && same_size(weight.sym_size(0), width) && same_size(weight.sym_size(1), 2 * width),
              "grc_update: ", name, " must be (Dm, 2·Dm) = (", width, ", ", 2 * width, "), got ", weight.sym_sizes());
  if (bias) check_vector("grc_update", *bias, "Dm", width, "the bias of ", name);
}

using GrcUpdateForms =
    Listed<GrcUpdateCall, GrcUpdateForward(const Tensor&, const Tensor&, const Tensor&, const OptionalTensor&,
                                           const Tensor&, const OptionalTensor&, const Tensor&, const OptionalTensor&,
                                           const OptionalTensor&, const OptionalTensor&, double)>;

void check_grc_update(const GrcUpdateCall& call) {
  const Tensor &cache = call.cache, &tokens = call.tokens;
  TORCH_CHECK(tokens.dim() == 3, "grc_update: tokens must be (B, Tm, Dm), got ", tokens.sym_sizes());
  TORCH_CHECK(cache.dim() == 3 && same_sizes(cache.sym_sizes().slice(1), tokens.sym_sizes().slice(1)) &&
                  same_size_or_one(cache.sym_size(0), tokens.sym_size(0)),
              "grc_update: cache must be (1, Tm, Dm) or (B, Tm, Dm) for tokens ", tokens.sym_sizes(), ", got ",
              cache.sym_sizes());
  const auto width = tokens.sym_size(2);
  check_linear("reset_weight", call.reset_weight, call.reset_bias, width);
  check_linear("update_weight", call.update_weight, call.update_bias, width);
  check_linear("candidate_weight", call.candidate_weight, call.candidate_bias, width);
  TORCH_CHECK(call.reset_bias.has_value() == call.update_bias.has_value(),
              "grc_update: give both gates a bias, or neither");
  TORCH_CHECK(call.norm_weight.has_value() == call.norm_bias.has_value(),
              "grc_update: give norm_weight and norm_bias, or neither");
  check_same_device("grc_update", tokens,
                    {{"cache", cache},
                     {"reset_weight", call.reset_weight},
                     {"reset_bias", call.reset_bias},
                     {"update_weight", call.update_weight},
                     {"update_bias", call.update_bias},
                     {"candidate_weight", call.candidate_weight},
                     {"candidate_bias", call.candidate_bias},
                     {"norm_weight", call.norm_weight},
                     {"norm_bias", call.norm_bias}});
  if (call.norm_weight) check_vector("grc_update", *call.norm_weight, "Dm", width, "norm_weight");
  if (call.norm_bias) check_vector("grc_update", *call.norm_bias, "Dm", width, "norm_bias");
}

at::ScalarType dtype_of_samples(const Tensor& cache, const Tensor& tokens) {
  return is_size(cache.sym_size(0), 1) ? tokens.scalar_type()
                                       : c10::promoteTypes(cache.scalar_type(), tokens.scalar_type());
}

// Operands of the backward operator, in the order of its schema.
struct GrcUpdateGradientCall {
  OptionalTensor d_samples, d_mean;
  Tensor cache, tokens, reset_weight, update_weight, candidate_weight;
  OptionalTensor candidate_bias, norm_weight, norm_bias;
  double norm_eps;
  Tensor token_products, cache_products, reset_products;

  // The forward pass, without the gates' biases: no gradient depends on them.
  GrcUpdateCall forward() const {
    return {cache,          tokens,      reset_weight, {},      update_weight, {}, candidate_weight,
            candidate_bias, norm_weight, norm_bias,    norm_eps};
  }
};

using GrcUpdateBackward = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;
using GrcUpdateGradientForms =
    Listed<GrcUpdateGradientCall,
           GrcUpdateBackward(const OptionalTensor&, const OptionalTensor&, const Tensor&, const Tensor&, const Tensor&,
                             const Tensor&, const Tensor&, const OptionalTensor&, const OptionalTensor&,
                             const OptionalTensor&, double, const Tensor&, const Tensor&, const Tensor&)>;

void check_gradient(const GrcUpdateGradientCall& call) {
  constexpr const char* op = "grc_update_backward";
  const Tensor &cache = call.cache, &tokens = call.tokens;
  check_grc_update(call.forward());
  const auto batch = tokens.sym_size(0), length = tokens.sym_size(1), width = tokens.sym_size(2);
  if (call.d_samples)
    check_shape(op, "d_samples", *call.d_samples, tokens.sym_sizes(), tokens, dtype_of_samples(cache, tokens));
  if (call.d_mean) check_shape(op, "d_mean", *call.d_mean, {1, length, width}, cache);
  check_shape(op, "token_products", call.token_products, {batch, length, 3 * width}, call.reset_weight);
  check_shape(op, "cache_products", call.cache_products, {cache.sym_size(0), length, 2 * width}, call.reset_weight);
  check_shape(op, "reset_products", call.reset_products, {batch, length, width}, call.reset_weight);
}

// --- composite -------------------------------------------------------------------------------------------------------

GrcUpdateForward grc_update_composite(const GrcUpdateCall& call) {
  check_grc_update(call);
  const Tensor& cache = call.cache;
  const auto width = call.tokens.sym_size(2);
  const auto dtype = call.reset_weight.scalar_type();  // products want one
  const Tensor token_products =
      at::linear(call.tokens.to(dtype), token_weights(call.reset_weight, call.update_weight, call.candidate_weight));
  const Tensor cache_products = at::linear(cache.to(dtype), gate_weights(call.reset_weight, call.update_weight),
                                           gate_bias(call.reset_bias, call.update_bias, dtype));
  const Tensor gates = (cache_products + token_products.narrow_symint(2, 0, 2 * width)).sigmoid();
  const Tensor reset = gates.narrow_symint(2, 0, width), update = gates.narrow_symint(2, width, width);
  const Tensor reset_products = at::linear((reset * cache).to(dtype), cache_half(call.candidate_weight));

  Tensor candidate = reset_products + token_products.narrow_symint(2, 2 * width, width);
  if (call.candidate_bias) candidate = candidate + *call.candidate_bias;
  if (call.norm_weight)
    candidate = at::layer_norm_symint(at::gelu(candidate), width, call.norm_weight->to(candidate.scalar_type()),
                                      call.norm_bias->to(candidate.scalar_type()), call.norm_eps);
  const Tensor next = (1 - update) * cache + update * candidate;
  return {next.to(dtype_of_samples(cache, call.tokens)), next.mean(0, /*keepdim=*/true).to(cache.scalar_type()),
          token_products, cache_products, reset_products};
}

// --- CPU -------------------------------------------------------------------------------------------------------------

GrcUpdateForward grc_update_cpu(const GrcUpdateCall& call) {
  if (grc_update_fused_on(call) != FusedOn::cpu) return grc_update_composite(call);
  check_grc_update(call);
  const auto [samples, mean, products] = grc_update_forward(call);
  return {samples, mean, products.tokens, products.cache, products.reset};
}

// Gradients of cache, tokens, the three weights, the gates' biases (2·Dm), the candidate's, and the norm's two. Those
// of absent operands are empty.
GrcUpdateBackward grc_update_backward_cpu(const GrcUpdateGradientCall& call) {
  check_fused_on_cpu("grc_update", grc_update_fused_on(call.forward()));
  check_gradient(call);
  const auto d = grc_update_gradients(call.forward(), call.d_samples, call.d_mean,
                                      {call.token_products, call.cache_products, call.reset_products});
  return {d.cache,     d.tokens,         d.reset_weight, d.update_weight, d.candidate_weight,
          d.gate_bias, d.candidate_bias, d.norm_weight,  d.norm_bias};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

GrcUpdateForward grc_update_meta(const GrcUpdateCall& call) {
  check_grc_update(call);
  const Tensor &cache = call.cache, &tokens = call.tokens;
  const auto batch = tokens.sym_size(0), length = tokens.sym_size(1), width = tokens.sym_size(2);
  const auto products = tokens.options().dtype(call.reset_weight.scalar_type());
  return {at::empty_symint(tokens.sym_sizes(), tokens.options().dtype(dtype_of_samples(cache, tokens))),
          at::empty_symint({1, length, width}, cache.options()), at::empty_symint({batch, length, 3 * width}, products),
          at::empty_symint({cache.sym_size(0), length, 2 * width}, products),
          at::empty_symint(tokens.sym_sizes(), products)};
}

GrcUpdateBackward grc_update_backward_meta(const GrcUpdateGradientCall& call) {
  check_gradient(call);
  const Tensor &cache = call.cache, &tokens = call.tokens;
  const auto width = tokens.sym_size(2), norm = call.norm_weight ? width : c10::SymInt(0);
  const auto floats = [&](const c10::SymInt& n) { return at::empty_symint({n}, cache.options()); };
  const auto gates_dtype = is_size(cache.sym_size(0), 1) ? cache.scalar_type() : tokens.scalar_type();
  return {empty_as(cache),
          empty_as(tokens),
          empty_as(call.reset_weight),
          empty_as(call.update_weight),
          empty_as(call.candidate_weight),
          at::empty_symint({2 * width}, cache.options().dtype(gates_dtype)),
          floats(width),
          floats(norm),
          floats(norm)};
}

// --- gradient --------------------------------------------------------------------------------------------------------

GrcUpdateForward call_forward(const GrcUpdateCall& call) {
  static const auto op = operator_handle<GrcUpdateForms::Signature>("cachet::grc_update");
  return GrcUpdateForms::call(op, call);
}

struct GrcUpdate : torch::autograd::Function<GrcUpdate> {
  template <class... Operands>
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Operands&... operands) {
    at::AutoDispatchBelowADInplaceOrView below;
    const GrcUpdateCall call{operands...};
    const auto [samples, mean, token_products, cache_products, reset_products] = call_forward(call);
    ctx->save_for_backward({call.cache, call.tokens, call.reset_weight, call.update_weight, call.candidate_weight,
                            or_undefined(call.candidate_bias), or_undefined(call.norm_weight),
                            or_undefined(call.norm_bias), token_products, cache_products, reset_products});
    ctx->saved_data["eps"] = call.norm_eps;
    ctx->saved_data["gate_bias"] = call.reset_bias.has_value();
    ctx->mark_non_differentiable({token_products, cache_products, reset_products});
    ctx->set_materialize_grads(false);
    return {samples, mean, token_products, cache_products, reset_products};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<GrcUpdateGradientForms::Signature>("cachet::grc_update_backward");
    const auto saved = ctx->get_saved_variables();
    const auto [d_cache, d_tokens, d_reset, d_update, d_candidate, d_gate_bias, d_candidate_bias, d_norm_weight,
                d_norm_bias] =
        op.call(as_optional(grads[0]), as_optional(grads[1]), saved[0], saved[1], saved[2], saved[3], saved[4],
                as_optional(saved[5]), as_optional(saved[6]), as_optional(saved[7]), ctx->saved_data["eps"].toDouble(),
                saved[8], saved[9], saved[10]);
    const bool gate_bias = ctx->saved_data["gate_bias"].toBool(), norm = saved[6].defined();
    const auto width = saved[1].sym_size(2);
    const Tensor none;
    return {d_cache,
            d_tokens,
            d_reset,
            gate_bias ? d_gate_bias.narrow_symint(0, 0, width) : none,
            d_update,
            gate_bias ? d_gate_bias.narrow_symint(0, width, width) : none,
            d_candidate,
            saved[5].defined() ? d_candidate_bias : none,
            norm ? d_norm_weight : none,
            norm ? d_norm_bias : none,
            none};
  }
};

GrcUpdateForward grc_update_autograd(const GrcUpdateCall& call) {
  if (grc_update_fused_on(call) == FusedOn::none) return grc_update_composite(call);
  const auto out = call.list([](const auto&... operands) { return GrcUpdate::apply(operands...); });
  return {out[0], out[1], out[2], out[3], out[4]};
}

}  // namespace

GrcUpdated grc_update(const Tensor& cache, const Tensor& tokens, const GateWeights& reset, const GateWeights& update,
                      const GateWeights& candidate, const std::optional<CandidateNorm>& norm) {
  const auto out =
      call_forward(GrcUpdateCall{cache, tokens, reset.weight, reset.bias, update.weight, update.bias, candidate.weight,
                                 candidate.bias, norm ? OptionalTensor(norm->weight) : std::nullopt,
                                 norm ? OptionalTensor(norm->bias) : std::nullopt, norm ? norm->eps : 1e-5});
  return {std::get<0>(out), std::get<1>(out)};
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "grc_update(Tensor cache, Tensor tokens, Tensor reset_weight, Tensor? reset_bias, Tensor update_weight, "
           "Tensor? update_bias, Tensor candidate_weight, Tensor? candidate_bias, Tensor? norm_weight=None, "
           "Tensor? norm_bias=None, float norm_eps=1e-05) -> (Tensor, Tensor, Tensor, Tensor, Tensor)")
      .composite(GrcUpdateForms::form<grc_update_composite>)
      .cpu(GrcUpdateForms::form<grc_update_cpu>)
      .meta(GrcUpdateForms::form<grc_update_meta>)
      .autograd(GrcUpdateForms::form<grc_update_autograd>)
      .autocast<&GrcUpdateForms::form<call_forward>, 1, 2, 4, 6>();
  Operator(
      m,
      "grc_update_backward(Tensor? d_samples, Tensor? d_mean, Tensor cache, Tensor tokens, Tensor reset_weight, "
      "Tensor update_weight, Tensor candidate_weight, Tensor? candidate_bias, Tensor? norm_weight, Tensor? norm_bias, "
      "float norm_eps, Tensor token_products, Tensor cache_products, Tensor reset_products) "
      "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)")
      .cpu(GrcUpdateGradientForms::form<grc_update_backward_cpu>)
      .meta(GrcUpdateGradientForms::form<grc_update_backward_meta>)
      .without_gradient("grc_update", kFusedOnce);
}

}  // namespace cachet::ops
