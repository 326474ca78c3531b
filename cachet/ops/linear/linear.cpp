#include "cachet/ops/linear/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/kernels/bias_gelu.h"
#include "cachet/ops/linear/product.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"
#include "cachet/ops/support/wants_gradient.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_linear(const char* op, const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  TORCH_CHECK(x.dim() >= 1 && x.is_floating_point(), op, ": x must be floating (..., K), got ", x.scalar_type(), " ",
              x.sym_sizes());
  check_same_device(op, x, {{"weight", weight}, {"bias", bias}});
  TORCH_CHECK(weight.dim() == 2 && same_size(weight.sym_size(1), x.sym_size(-1)), op,
              ": weight must be (N, K) with K = ", x.sym_size(-1), ", got ", weight.sym_sizes());
  TORCH_CHECK(weight.scalar_type() == x.scalar_type(), op, ": x is ", x.scalar_type(), ", weight ",
              weight.scalar_type());
  if (bias) check_vector(op, *bias, "N", weight.sym_size(0), "bias");
}

c10::SymDimVector output_sizes(const Tensor& x, const Tensor& weight) {
  c10::SymDimVector sizes(x.sym_sizes());
  sizes.back() = weight.sym_size(0);
  return sizes;
}

Tensor empty_output(const Tensor& x, const Tensor& weight) {
  return at::empty_symint(output_sizes(x, weight), x.options());
}

// Gradients of x and weight from that of their product.
std::tuple<Tensor, Tensor> product_gradients(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  const Tensor dy = as_rows(grad);
  return {linear_no_grad(dy, weight.t()).view(x.sizes()), matmul_tn(dy, as_rows(x))};
}

void check_gradient(const char* op, const Tensor& grad, const Tensor& x, const Tensor& weight,
                    const OptionalTensor& bias) {
  check_linear(op, x, weight, bias);
  check_shape(op, "grad", grad, output_sizes(x, weight), x);
}

// --- linear ----------------------------------------------------------------------------------------------------------

Tensor linear_forward(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  check_linear("linear", x, weight, bias);
  return linear_no_grad(x, weight, bias).contiguous();
}

std::tuple<Tensor, Tensor> linear_backward(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  check_gradient("linear_backward", grad, x, weight, {});
  return product_gradients(grad, x, weight);
}

Tensor linear_meta(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  check_linear("linear", x, weight, bias);
  return empty_output(x, weight);
}

std::tuple<Tensor, Tensor> linear_backward_meta(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  check_gradient("linear_backward", grad, x, weight, {});
  return {empty_as(x), empty_as(weight)};
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, const Tensor& weight,
                        const OptionalTensor& bias) {
    static const auto op = operator_handle<decltype(linear_forward)>("cachet::linear");
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    return op.call(x, weight, bias);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(linear_backward)>("cachet::linear_backward");
    const auto saved = ctx->get_saved_variables();
    const auto [d_x, d_weight] = op.call(grads[0], saved[0], saved[1]);
    return {d_x, d_weight, ctx->saved_data["bias"].toBool() ? as_rows(grads[0]).sum(0) : Tensor()};
  }
};

Tensor linear_autograd(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  return has_faster_product(x) && !in_function_transform() ? LinearFunction::apply(x, weight, bias)
                                                           : at::linear(x, weight, bias);
}

// --- linear and GELU -------------------------------------------------------------------------------------------------

// The result, and the product without bias that the backward pass reads; the latter empty where nobody asked for it.
using LinearForward = std::tuple<Tensor, Tensor>;

LinearForward linear_gelu_composite(const Tensor& x, const Tensor& weight, const Tensor& bias, bool keep_product) {
  check_linear("linear_gelu", x, weight, bias);
  const Tensor made = at::linear(x, weight);
  return {at::gelu(made + bias.to(made.scalar_type())).contiguous(), keep_product ? made : at::empty({0}, x.options())};
}

// Rows that one call of a kernel takes when sums are taken: their order does not depend on the number of threads.
constexpr int64_t kLinearRows = 64;

LinearForward linear_gelu_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias, bool keep_product) {
  if (fused_on(x) != FusedOn::cpu) return linear_gelu_composite(x, weight, bias, keep_product);
  check_linear("linear_gelu", x, weight, bias);
  if (!keep_product) return {product_gelu(x, weight, bias).contiguous(), at::empty({0}, x.options())};
  const Tensor made = linear_no_grad(x, weight).contiguous(), out = at::empty(made.sizes(), made.options());
  const Tensor shift = bias.to(at::kFloat).contiguous();
  const int64_t width = weight.size(0), count = width == 0 ? 0 : made.numel() / width;
  for_type_of(x, [&]<class T>(T*) {
    parallel(count, width, [&](int64_t from, int64_t to) {
      kernels::bias_gelu(data<T>(made) + from * width, data<float>(shift), mutable_data<T>(out) + from * width,
                         {to - from, width});
    });
  });
  return {out, made};
}

void check_gelu_gradient(const Tensor& grad, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const Tensor& made) {
  check_gradient("linear_gelu_backward", grad, x, weight, bias);
  check_shape("linear_gelu_backward", "product", made, output_sizes(x, weight), x);
}

// Gradients of x, weight and bias.
std::tuple<Tensor, Tensor, Tensor> linear_gelu_backward_cpu(const Tensor& grad, const Tensor& x, const Tensor& weight,
                                                            const Tensor& bias, const Tensor& made) {
  check_fused_on_cpu("linear_gelu", fused_on(x));
  check_gelu_gradient(grad, x, weight, bias, made);
  const int64_t width = weight.size(0), count = width == 0 ? 0 : made.numel() / width;
  const Tensor dy = grad.contiguous(), shift = bias.to(at::kFloat).contiguous();
  const Tensor d_made = at::empty(made.sizes(), made.options());
  const Tensor d_bias = at::zeros({chunks_of(count, kLinearRows), width}, shift.options());
  for_type_of(x, [&]<class T>(T*) {
    parallel_chunks(count, kLinearRows, width, [&](int64_t chunk, int64_t row, int64_t size) {
      const int64_t first = row * width;
      kernels::bias_gelu_backward(data<T>(made) + first, data<float>(shift), data<T>(dy) + first,
                                  mutable_data<T>(d_made) + first, mutable_data<float>(d_bias) + chunk * width,
                                  {size, width});
    });
  });
  const auto [d_x, d_weight] = product_gradients(d_made, x, weight);
  return {d_x, d_weight, d_bias.sum(0)};
}

LinearForward linear_gelu_meta(const Tensor& x, const Tensor& weight, const Tensor& bias, bool keep_product) {
  check_linear("linear_gelu", x, weight, bias);
  return {empty_output(x, weight), keep_product ? empty_output(x, weight) : at::empty({0}, x.options())};
}

std::tuple<Tensor, Tensor, Tensor> linear_gelu_backward_meta(const Tensor& grad, const Tensor& x, const Tensor& weight,
                                                             const Tensor& bias, const Tensor& made) {
  check_gelu_gradient(grad, x, weight, bias, made);
  return {empty_as(x), empty_as(weight), at::empty_symint(bias.sym_sizes(), bias.options().dtype(at::kFloat))};
}

LinearForward call_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias, bool keep_product) {
  static const auto op = operator_handle<decltype(linear_gelu_composite)>("cachet::linear_gelu");
  return op.call(x, weight, bias, keep_product);
}

struct LinearGeluFunction : torch::autograd::Function<LinearGeluFunction> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& x,
                                                const Tensor& weight, const Tensor& bias) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [y, made] = call_gelu(x, weight, bias, /*keep_product=*/true);
    ctx->save_for_backward({x, weight, bias, made});
    ctx->mark_non_differentiable({made});
    ctx->set_materialize_grads(false);  // of the product nobody has one
    return {y, made};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(linear_gelu_backward_cpu)>("cachet::linear_gelu_backward");
    if (!grads[0].defined()) return torch::autograd::variable_list(3);
    const auto saved = ctx->get_saved_variables();
    const auto [d_x, d_weight, d_bias] = op.call(grads[0], saved[0], saved[1], saved[2], saved[3]);
    return {d_x, d_weight, d_bias};
  }
};

LinearForward linear_gelu_autograd(const Tensor& x, const Tensor& weight, const Tensor& bias, bool keep_product) {
  if (fused_on(x, "linear_gelu") == FusedOn::none) return linear_gelu_composite(x, weight, bias, keep_product);
  if (!wants_gradient(x, weight, bias)) {
    at::AutoDispatchBelowADInplaceOrView below;
    return call_gelu(x, weight, bias, keep_product);
  }
  const auto out = LinearGeluFunction::apply(x, weight, bias);
  return {out[0], keep_product ? out[1] : at::empty({0}, x.options())};
}

// --- autocast --------------------------------------------------------------------------------------------------------

Tensor linear_autocast(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  return at::linear(x, weight, bias);  // its own rule
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  if (is_packed(weight)) return linear_no_grad(x, weight, bias);
  static const auto op = operator_handle<decltype(linear_forward)>("cachet::linear");
  return has_faster_product(x) && weight.scalar_type() == x.scalar_type() ? op.call(x, weight, bias)
                                                                          : at::linear(x, weight, bias);
}

Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (is_packed(weight)) return product_gelu(x, weight, bias);
  return std::get<0>(call_gelu(x, weight, bias, wants_gradient(x, weight, bias)));
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor")
      // For all devices: linear_forward chooses the product for a CPU itself.
      .composite(linear_forward)
      .meta(linear_meta)
      .autograd(linear_autograd)
      .autocast(linear_autocast);
  Operator(m, "linear_backward(Tensor grad, Tensor x, Tensor weight) -> (Tensor, Tensor)")
      .composite(linear_backward)
      .meta(linear_backward_meta)
      .without_gradient("linear", kFusedOnce);
  Operator(m, "linear_gelu(Tensor x, Tensor weight, Tensor bias, bool keep_product=True) -> (Tensor, Tensor)")
      .composite(linear_gelu_composite)
      .cpu(linear_gelu_cpu)
      .meta(linear_gelu_meta)
      .autograd(linear_gelu_autograd)
      .autocast<call_gelu, 0, 1>();
  Operator(m,
           "linear_gelu_backward(Tensor grad, Tensor x, Tensor weight, Tensor bias, Tensor product) "
           "-> (Tensor, Tensor, Tensor)")
      .cpu(linear_gelu_backward_cpu)
      .meta(linear_gelu_backward_meta)
      .without_gradient("linear_gelu", kFusedOnce);
}

}  // namespace cachet::ops
