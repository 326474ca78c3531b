#include "cachet/ops/cache/grc_update_cpu.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "cachet/kernels/grc_update.h"
#include "cachet/ops/cache/grc_weights.h"
#include "cachet/ops/linear/product.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

// Rows of the cache that one call of a kernel takes: the threads' share, and the unit in which gradients are summed up,
// so that sums do not depend on the number of threads.
constexpr int64_t kUpdateRows = 8;

template <class Body>
void for_rows(const Tensor& tokens, const Body& body) {
  parallel_chunks(tokens.size(1), kUpdateRows, tokens.size(0) * tokens.size(2),
                  [&](int64_t chunk, int64_t first, int64_t size) {
                    body(chunk, kernels::GrcRows{first, first + size});
                  });
}

/// What the kernels read, which must stay alive.
struct Operands {
  explicit Operands(const GrcUpdateCall& call)
      : cache(call.cache.contiguous()),
        candidate_bias(float_vector(call.candidate_bias)),
        norm_weight(float_vector(call.norm_weight)),
        norm_bias(float_vector(call.norm_bias)),
        eps(static_cast<float>(call.norm_eps)),
        shape{call.tokens.size(0), call.tokens.size(1), call.tokens.size(2), call.cache.size(0) == 1} {}

  template <class T>
  kernels::GrcInputs<T> inputs() const {
    return {data<T>(products.tokens),
            data<T>(products.cache),
            data_or_null<T>(products.reset),
            data<float>(cache),
            data_or_null<float>(candidate_bias),
            data_or_null<float>(norm_weight),
            data_or_null<float>(norm_bias),
            eps};
  }

  Tensor cache, candidate_bias, norm_weight, norm_bias;
  GrcProducts products;
  float eps;
  kernels::GrcShape shape;
};

}  // namespace

FusedOn grc_update_fused_on(const GrcUpdateCall& call) {
  const FusedOn fused = fused_on(call.tokens, "grc_update");
  if (fused == FusedOn::none) return fused;
  const auto dtype = call.tokens.scalar_type();
  const bool serves = call.cache.scalar_type() == at::kFloat && call.reset_weight.scalar_type() == dtype &&
                      call.update_weight.scalar_type() == dtype && call.candidate_weight.scalar_type() == dtype &&
                      (is_size(call.cache.sym_size(0), 1) || dtype == at::kFloat);
  return serves ? fused : FusedOn::none;
}

GrcStep grc_update_forward(const GrcUpdateCall& call) {
  const Tensor& tokens = call.tokens;
  const auto dtype = tokens.scalar_type();
  Operands in(call);
  in.products.tokens =
      linear_no_grad(tokens, token_weights(call.reset_weight, call.update_weight, call.candidate_weight));
  in.products.cache = linear_no_grad(in.cache.to(dtype), gate_weights(call.reset_weight, call.update_weight),
                                     gate_bias(call.reset_bias, call.update_bias, dtype));
  const Tensor samples = at::empty(tokens.sizes(), tokens.options());
  const Tensor mean = at::empty({1, tokens.size(1), tokens.size(2)}, call.cache.options());
  for_type_of(tokens, [&]<class T>(T*) {
    // Until the samples are computed, their memory holds r ⊙ C.
    for_rows(tokens, [&](int64_t, kernels::GrcRows part) {
      kernels::grc_reset(in.inputs<T>(), mutable_data<T>(samples), in.shape, part);
    });
    in.products.reset = linear_no_grad(samples, cache_half(call.candidate_weight));
    for_rows(tokens, [&](int64_t, kernels::GrcRows part) {
      std::vector<float> scratch(static_cast<size_t>(tokens.size(2)));
      kernels::grc_blend(in.inputs<T>(), mutable_data<T>(samples), mutable_data<float>(mean), scratch.data(), in.shape,
                         part);
    });
  });
  return {samples, mean, in.products};
}

GrcUpdateGradients grc_update_gradients(const GrcUpdateCall& call, const OptionalTensor& d_samples,
                                        const OptionalTensor& d_mean, const GrcProducts& products) {
  const Tensor& tokens = call.tokens;
  const int64_t batch = tokens.size(0), length = tokens.size(1), width = tokens.size(2);
  Operands in(call);
  in.products = products;
  const bool shared = in.shape.shared;
  const auto floats = call.cache.options();
  const Tensor samples_grad = d_samples ? d_samples->contiguous() : Tensor();
  const Tensor mean_grad = d_mean ? d_mean->contiguous() : Tensor();
  const Tensor d_token_products = at::empty({batch * length, 3 * width}, tokens.options());
  const Tensor d_gates = shared ? at::empty({length, 2 * width}, floats) : Tensor();
  const Tensor d_cache = at::zeros(call.cache.sizes(), floats);
  const Tensor d_norm = at::zeros({chunks_of(length, kUpdateRows), 2, call.norm_weight ? width : 0}, floats);
  const Tensor reset_cache = at::empty({batch * length, width}, tokens.options());
  const Tensor d_candidate = d_token_products.narrow(1, 2 * width, width);

  for_type_of(tokens, [&]<class T>(T*) {
    const auto inputs = in.inputs<T>();
    const auto gradients = [&](int64_t chunk) {
      float* norm = call.norm_weight ? mutable_data<float>(d_norm) + chunk * 2 * width : nullptr;
      return kernels::GrcGradients<T>{mutable_data<T>(d_token_products),
                                      shared ? mutable_data<float>(d_gates) : nullptr, mutable_data<float>(d_cache),
                                      norm, norm ? norm + width : nullptr};
    };
    for_rows(tokens, [&](int64_t chunk, kernels::GrcRows part) {
      std::vector<float> scratch(static_cast<size_t>(3 * width));
      kernels::grc_blend_backward(inputs, data_or_null<T>(samples_grad), data_or_null<float>(mean_grad),
                                  gradients(chunk), scratch.data(), in.shape, part);
    });
    const Tensor d_reset_cache = linear_no_grad(d_candidate, cache_half(call.candidate_weight).t());
    for_rows(tokens, [&](int64_t chunk, kernels::GrcRows part) {
      kernels::grc_reset_backward(inputs, data<T>(d_reset_cache), mutable_data<T>(reset_cache), gradients(chunk),
                                  in.shape, part);
    });
  });

  const Tensor of_gates = shared ? d_gates : d_token_products.narrow(1, 0, 2 * width);
  const Tensor weights = token_weights(call.reset_weight, call.update_weight, call.candidate_weight);
  const Tensor d_tokens = linear_no_grad(d_token_products, weights.t()).view(tokens.sizes());
  const Tensor d_token_half = matmul_tn(d_token_products, as_rows(tokens));
  const Tensor d_gate_half = at::mm(of_gates.t(), as_rows(in.cache)).to(call.reset_weight.scalar_type());
  const auto whole = [&](const Tensor& of_cache, int64_t part) {
    return at::cat({of_cache, d_token_half.narrow(0, part * width, width)}, 1);
  };
  const Tensor gates = gate_weights(call.reset_weight, call.update_weight).to(at::kFloat);
  const Tensor d_norms = d_norm.sum(0);
  return {d_cache + at::mm(of_gates, gates).view(call.cache.sizes()),
          d_tokens,
          whole(d_gate_half.narrow(0, 0, width), 0),
          whole(d_gate_half.narrow(0, width, width), 1),
          whole(matmul_tn(d_candidate, reset_cache), 2),
          of_gates.sum(0),
          d_candidate.sum(0, /*keepdim=*/false, at::kFloat),
          d_norms[0].clone(),
          d_norms[1].clone()};
}

}  // namespace cachet::ops
