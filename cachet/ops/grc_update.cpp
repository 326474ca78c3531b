#include "cachet/ops/grc_update.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/ops/device_check.h"
#include "cachet/ops/dispatch.h"
#include "cachet/ops/fused.h"
#include "cachet/ops/grc_update_fused.h"
#include "cachet/ops/grc_weights.h"
#include "cachet/ops/registration.h"
#include "cachet/ops/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// samples, mean, and the products that the backward pass reads: X̄ with all weights (B, Tm, 3·Dm), C with those of the
// gates, biases added (1 or B, Tm, 2·Dm), r ⊙ C with the candidate's (B, Tm, Dm)
using GrcUpdateForward = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

void check_linear(const char* name, const Tensor& weight, const OptionalTensor& bias, const c10::SymInt& width) {
  TORCH_CHECK(weight.dim() == 2 && same_size(weight.sym_size(0), width) && same_size(weight.sym_size(1), 2 * width),
              "grc_update: ", name, " must be (Dm, 2·Dm) = (", width, ", ", 2 * width, "), got ", weight.sym_sizes());
  if (bias) check_vector("grc_update", *bias, "Dm", width, "the bias of ", name);
}

void check_grc_update(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                      const OptionalTensor& reset_bias, const Tensor& update_weight, const OptionalTensor& update_bias,
                      const Tensor& candidate_weight, const OptionalTensor& candidate_bias,
                      const OptionalTensor& norm_weight, const OptionalTensor& norm_bias) {
  TORCH_CHECK(tokens.dim() == 3, "grc_update: tokens must be (B, Tm, Dm), got ", tokens.sym_sizes());
  TORCH_CHECK(cache.dim() == 3 && same_sizes(cache.sym_sizes().slice(1), tokens.sym_sizes().slice(1)) &&
                  same_size_or_one(cache.sym_size(0), tokens.sym_size(0)),
              "grc_update: cache must be (1, Tm, Dm) or (B, Tm, Dm) for tokens ", tokens.sym_sizes(), ", got ",
              cache.sym_sizes());
  const auto width = tokens.sym_size(2);
  check_linear("reset_weight", reset_weight, reset_bias, width);
  check_linear("update_weight", update_weight, update_bias, width);
  check_linear("candidate_weight", candidate_weight, candidate_bias, width);
  TORCH_CHECK(reset_bias.has_value() == update_bias.has_value(), "grc_update: give both gates a bias, or neither");
  TORCH_CHECK(norm_weight.has_value() == norm_bias.has_value(),
              "grc_update: give norm_weight and norm_bias, or neither");
  check_same_device("grc_update", tokens,
                    {{"cache", cache},
                     {"reset_weight", reset_weight},
                     {"reset_bias", reset_bias},
                     {"update_weight", update_weight},
                     {"update_bias", update_bias},
                     {"candidate_weight", candidate_weight},
                     {"candidate_bias", candidate_bias},
                     {"norm_weight", norm_weight},
                     {"norm_bias", norm_bias}});
  if (norm_weight) check_vector("grc_update", *norm_weight, "Dm", width, "norm_weight");
  if (norm_bias) check_vector("grc_update", *norm_bias, "Dm", width, "norm_bias");
}

at::ScalarType dtype_of_samples(const Tensor& cache, const Tensor& tokens) {
  return is_size(cache.sym_size(0), 1) ? tokens.scalar_type()
                                       : c10::promoteTypes(cache.scalar_type(), tokens.scalar_type());
}

void check_gradient(const OptionalTensor& d_samples, const OptionalTensor& d_mean, const Tensor& cache,
                    const Tensor& tokens, const Tensor& reset_weight, const Tensor& update_weight,
                    const Tensor& candidate_weight, const OptionalTensor& candidate_bias,
                    const OptionalTensor& norm_weight, const OptionalTensor& norm_bias, const Tensor& token_products,
                    const Tensor& cache_products, const Tensor& reset_products) {
  constexpr const char* op = "grc_update_backward";
  check_grc_update(cache, tokens, reset_weight, {}, update_weight, {}, candidate_weight, candidate_bias, norm_weight,
                   norm_bias);
  const auto batch = tokens.sym_size(0), length = tokens.sym_size(1), width = tokens.sym_size(2);
  if (d_samples) check_shape(op, "d_samples", *d_samples, tokens.sym_sizes(), tokens, dtype_of_samples(cache, tokens));
  if (d_mean) check_shape(op, "d_mean", *d_mean, {1, length, width}, cache);
  check_shape(op, "token_products", token_products, {batch, length, 3 * width}, reset_weight);
  check_shape(op, "cache_products", cache_products, {cache.sym_size(0), length, 2 * width}, reset_weight);
  check_shape(op, "reset_products", reset_products, {batch, length, width}, reset_weight);
}

// --- composite -------------------------------------------------------------------------------------------------------

GrcUpdateForward grc_update_composite(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                                      const OptionalTensor& reset_bias, const Tensor& update_weight,
                                      const OptionalTensor& update_bias, const Tensor& candidate_weight,
                                      const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                      const OptionalTensor& norm_bias, double norm_eps) {
  check_grc_update(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight,
                   candidate_bias, norm_weight, norm_bias);
  const auto width = tokens.sym_size(2);
  const auto dtype = reset_weight.scalar_type();  // products want one
  const Tensor token_products =
      at::linear(tokens.to(dtype), token_weights(reset_weight, update_weight, candidate_weight));
  const Tensor cache_products =
      at::linear(cache.to(dtype), gate_weights(reset_weight, update_weight), gate_bias(reset_bias, update_bias, dtype));
  const Tensor gates = (cache_products + token_products.narrow_symint(2, 0, 2 * width)).sigmoid();
  const Tensor reset = gates.narrow_symint(2, 0, width), update = gates.narrow_symint(2, width, width);
  const Tensor reset_products = at::linear((reset * cache).to(dtype), cache_half(candidate_weight));

  Tensor candidate = reset_products + token_products.narrow_symint(2, 2 * width, width);
  if (candidate_bias) candidate = candidate + *candidate_bias;
  if (norm_weight)
    candidate = at::layer_norm_symint(at::gelu(candidate), width, norm_weight->to(candidate.scalar_type()),
                                      norm_bias->to(candidate.scalar_type()), norm_eps);
  const Tensor next = (1 - update) * cache + update * candidate;
  return {next.to(dtype_of_samples(cache, tokens)), next.mean(0, /*keepdim=*/true).to(cache.scalar_type()),
          token_products, cache_products, reset_products};
}

// --- fused, CPU ------------------------------------------------------------------------------------------------------

GrcUpdateForward grc_update_cpu(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                                const OptionalTensor& reset_bias, const Tensor& update_weight,
                                const OptionalTensor& update_bias, const Tensor& candidate_weight,
                                const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                const OptionalTensor& norm_bias, double norm_eps) {
  const GrcUpdateCall call{cache,       tokens,         reset_weight, update_weight, candidate_weight, reset_bias,
                           update_bias, candidate_bias, norm_weight,  norm_bias,     norm_eps};
  if (grc_update_fused_on(call) != FusedOn::cpu)
    return grc_update_composite(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight,
                                candidate_bias, norm_weight, norm_bias, norm_eps);
  check_grc_update(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight,
                   candidate_bias, norm_weight, norm_bias);
  const auto [samples, mean, products] = grc_update_forward(call);
  return {samples, mean, products.tokens, products.cache, products.reset};
}

using GrcUpdateBackward = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

// Gradients of cache, tokens, the three weights, the gates' biases (2·Dm), the candidate's, and the norm's two. Those
// of what is not there are empty.
GrcUpdateBackward grc_update_backward_cpu(const OptionalTensor& d_samples, const OptionalTensor& d_mean,
                                          const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                                          const Tensor& update_weight, const Tensor& candidate_weight,
                                          const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                          const OptionalTensor& norm_bias, double norm_eps,
                                          const Tensor& token_products, const Tensor& cache_products,
                                          const Tensor& reset_products) {
  const GrcUpdateCall call{cache, tokens,         reset_weight, update_weight, candidate_weight, {},
                           {},    candidate_bias, norm_weight,  norm_bias,     norm_eps};
  check_fused_on_cpu("grc_update", grc_update_fused_on(call));
  check_gradient(d_samples, d_mean, cache, tokens, reset_weight, update_weight, candidate_weight, candidate_bias,
                 norm_weight, norm_bias, token_products, cache_products, reset_products);
  const auto d = grc_update_gradients(call, d_samples.value_or(Tensor()), d_mean.value_or(Tensor()),
                                      {token_products, cache_products, reset_products});
  return {d.cache,     d.tokens,         d.reset_weight, d.update_weight, d.candidate_weight,
          d.gate_bias, d.candidate_bias, d.norm_weight,  d.norm_bias};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

GrcUpdateForward grc_update_meta(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                                 const OptionalTensor& reset_bias, const Tensor& update_weight,
                                 const OptionalTensor& update_bias, const Tensor& candidate_weight,
                                 const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                 const OptionalTensor& norm_bias, double) {
  check_grc_update(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight,
                   candidate_bias, norm_weight, norm_bias);
  const auto batch = tokens.sym_size(0), length = tokens.sym_size(1), width = tokens.sym_size(2);
  const auto products = tokens.options().dtype(reset_weight.scalar_type());
  return {at::empty_symint(tokens.sym_sizes(), tokens.options().dtype(dtype_of_samples(cache, tokens))),
          at::empty_symint({1, length, width}, cache.options()), at::empty_symint({batch, length, 3 * width}, products),
          at::empty_symint({cache.sym_size(0), length, 2 * width}, products),
          at::empty_symint(tokens.sym_sizes(), products)};
}

GrcUpdateBackward grc_update_backward_meta(const OptionalTensor& d_samples, const OptionalTensor& d_mean,
                                           const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                                           const Tensor& update_weight, const Tensor& candidate_weight,
                                           const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                           const OptionalTensor& norm_bias, double, const Tensor& token_products,
                                           const Tensor& cache_products, const Tensor& reset_products) {
  check_gradient(d_samples, d_mean, cache, tokens, reset_weight, update_weight, candidate_weight, candidate_bias,
                 norm_weight, norm_bias, token_products, cache_products, reset_products);
  const auto width = tokens.sym_size(2), norm = norm_weight ? width : c10::SymInt(0);
  const auto floats = [&](const c10::SymInt& n) { return at::empty_symint({n}, cache.options()); };
  const auto gates_dtype = is_size(cache.sym_size(0), 1) ? cache.scalar_type() : tokens.scalar_type();
  return {empty_as(cache),
          empty_as(tokens),
          empty_as(reset_weight),
          empty_as(update_weight),
          empty_as(candidate_weight),
          at::empty_symint({2 * width}, cache.options().dtype(gates_dtype)),
          floats(width),
          floats(norm),
          floats(norm)};
}

// --- gradient --------------------------------------------------------------------------------------------------------

GrcUpdateForward call_forward(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                              const OptionalTensor& reset_bias, const Tensor& update_weight,
                              const OptionalTensor& update_bias, const Tensor& candidate_weight,
                              const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                              const OptionalTensor& norm_bias, double norm_eps) {
  static const auto op = operator_handle<decltype(grc_update_composite)>("cachet::grc_update");
  return op.call(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight, candidate_bias,
                 norm_weight, norm_bias, norm_eps);
}

struct GrcUpdate : torch::autograd::Function<GrcUpdate> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& cache,
                                                const Tensor& tokens, const Tensor& reset_weight,
                                                const OptionalTensor& reset_bias, const Tensor& update_weight,
                                                const OptionalTensor& update_bias, const Tensor& candidate_weight,
                                                const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                                const OptionalTensor& norm_bias, double norm_eps) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [samples, mean, token_products, cache_products, reset_products] =
        call_forward(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight,
                     candidate_bias, norm_weight, norm_bias, norm_eps);
    ctx->save_for_backward({cache, tokens, reset_weight, update_weight, candidate_weight,
                            candidate_bias.value_or(Tensor()), norm_weight.value_or(Tensor()),
                            norm_bias.value_or(Tensor()), token_products, cache_products, reset_products});
    ctx->saved_data["eps"] = norm_eps;
    ctx->saved_data["gate_bias"] = reset_bias.has_value();
    ctx->mark_non_differentiable({token_products, cache_products, reset_products});
    ctx->set_materialize_grads(false);
    return {samples, mean, token_products, cache_products, reset_products};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(grc_update_backward_cpu)>("cachet::grc_update_backward");
    const auto saved = ctx->get_saved_variables();
    const auto present = [](const Tensor& t) { return t.defined() ? OptionalTensor(t) : std::nullopt; };
    const auto [d_cache, d_tokens, d_reset, d_update, d_candidate, d_gate_bias, d_candidate_bias, d_norm_weight,
                d_norm_bias] = op.call(present(grads[0]), present(grads[1]), saved[0], saved[1], saved[2], saved[3],
                                       saved[4], present(saved[5]), present(saved[6]), present(saved[7]),
                                       ctx->saved_data["eps"].toDouble(), saved[8], saved[9], saved[10]);
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

GrcUpdateForward grc_update_autograd(const Tensor& cache, const Tensor& tokens, const Tensor& reset_weight,
                                     const OptionalTensor& reset_bias, const Tensor& update_weight,
                                     const OptionalTensor& update_bias, const Tensor& candidate_weight,
                                     const OptionalTensor& candidate_bias, const OptionalTensor& norm_weight,
                                     const OptionalTensor& norm_bias, double norm_eps) {
  const GrcUpdateCall call{cache,       tokens,         reset_weight, update_weight, candidate_weight, reset_bias,
                           update_bias, candidate_bias, norm_weight,  norm_bias,     norm_eps};
  if (grc_update_fused_on(call) == FusedOn::none)
    return grc_update_composite(cache, tokens, reset_weight, reset_bias, update_weight, update_bias, candidate_weight,
                                candidate_bias, norm_weight, norm_bias, norm_eps);
  const auto out = GrcUpdate::apply(cache, tokens, reset_weight, reset_bias, update_weight, update_bias,
                                    candidate_weight, candidate_bias, norm_weight, norm_bias, norm_eps);
  return {out[0], out[1], out[2], out[3], out[4]};
}

}  // namespace

GrcUpdated grc_update(const Tensor& cache, const Tensor& tokens, const GateWeights& reset, const GateWeights& update,
                      const GateWeights& candidate, const std::optional<CandidateNorm>& norm) {
  const auto out = call_forward(cache, tokens, reset.weight, reset.bias, update.weight, update.bias, candidate.weight,
                                candidate.bias, norm ? OptionalTensor(norm->weight) : std::nullopt,
                                norm ? OptionalTensor(norm->bias) : std::nullopt, norm ? norm->eps : 1e-5);
  return {std::get<0>(out), std::get<1>(out)};
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "grc_update(Tensor cache, Tensor tokens, Tensor reset_weight, Tensor? reset_bias, Tensor update_weight, "
           "Tensor? update_bias, Tensor candidate_weight, Tensor? candidate_bias, Tensor? norm_weight=None, "
           "Tensor? norm_bias=None, float norm_eps=1e-05) -> (Tensor, Tensor, Tensor, Tensor, Tensor)")
      .composite(grc_update_composite)
      .cpu(grc_update_cpu)
      .meta(grc_update_meta)
      .autograd(grc_update_autograd)
      .autocast<call_forward, 1, 2, 4, 6>();
  Operator(
      m,
      "grc_update_backward(Tensor? d_samples, Tensor? d_mean, Tensor cache, Tensor tokens, Tensor reset_weight, "
      "Tensor update_weight, Tensor candidate_weight, Tensor? candidate_bias, Tensor? norm_weight, Tensor? norm_bias, "
      "float norm_eps, Tensor token_products, Tensor cache_products, Tensor reset_products) "
      "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)")
      .cpu(grc_update_backward_cpu)
      .meta(grc_update_backward_meta)
      .without_gradient("grc_update", kFusedOnce);
}

}  // namespace cachet::ops
