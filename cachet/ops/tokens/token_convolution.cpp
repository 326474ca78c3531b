#include "cachet/ops/tokens/token_convolution.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"
#include "cachet/ops/support/wants_gradient.h"
#include "cachet/ops/tokens/token_convolution_cpu.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using TokenConvolutionBackward = std::tuple<Tensor, Tensor, Tensor>;

void check_token_convolution(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                             const OptionalTensor& addend, const c10::SymInt& height, const c10::SymInt& width,
                             const c10::SymInt& class_tokens) {
  TORCH_CHECK(tokens.dim() == 3 && tokens.is_floating_point(),
              "token_convolution: tokens must be floating (B, L, D), got ", tokens.scalar_type(), " ",
              tokens.sym_sizes());
  TORCH_CHECK(at_least(height, 1) && at_least(width, 1) && at_least(class_tokens, 0) &&
                  same_size(class_tokens + height * width, tokens.sym_size(1)),
              "token_convolution: ", class_tokens, " class tokens and a grid of ", height, " x ", width,
              " are not the ", tokens.sym_size(1), " tokens");
  check_same_device("token_convolution", tokens, {{"weight", weight}, {"bias", bias}, {"addend", addend}});
  const auto dim = tokens.sym_size(2);
  TORCH_CHECK(weight.dim() == 4 && same_size(weight.sym_size(0), dim) && divides(weight.sym_size(1), dim) &&
                  same_size(weight.sym_size(2), 3) && same_size(weight.sym_size(3), 3),
              "token_convolution: weight must be (D, D / groups, 3, 3) with D = ", dim, ", got ", weight.sym_sizes());
  TORCH_CHECK(weight.scalar_type() == tokens.scalar_type(), "token_convolution: tokens are ", tokens.scalar_type(),
              ", weight ", weight.scalar_type());
  if (bias) check_vector("token_convolution", *bias, "D", dim, "bias");
  TORCH_CHECK(
      !addend || (same_sizes(addend->sym_sizes(), tokens.sym_sizes()) && addend->scalar_type() == tokens.scalar_type()),
      "token_convolution: addend must be as tokens, ", tokens.scalar_type(), " ", tokens.sym_sizes(), ", got ",
      addend->scalar_type(), " ", addend->sym_sizes());
}

void check_gradient(const Tensor& grad, const Tensor& tokens, const Tensor& weight, const c10::SymInt& height,
                    const c10::SymInt& width, const c10::SymInt& class_tokens) {
  check_token_convolution(tokens, weight, {}, {}, height, width, class_tokens);
  check_shape("token_convolution_backward", "grad", grad, tokens.sym_sizes(), tokens);
}

Tensor token_convolution_composite(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                                   const OptionalTensor& addend, c10::SymInt height, c10::SymInt width,
                                   c10::SymInt class_tokens, bool gelu) {
  check_token_convolution(tokens, weight, bias, addend, height, width, class_tokens);
  const auto batch = tokens.sym_size(0), dim = tokens.sym_size(2);
  const Tensor image = tokens.slice_symint(1, class_tokens).transpose(1, 2).reshape_symint({batch, dim, height, width});
  const OptionalTensor shift = bias ? OptionalTensor(bias->to(weight.scalar_type())) : std::nullopt;
  const c10::SymInt one = 1;
  Tensor y = at::conv2d_symint(image, weight, shift, /*stride=*/one, /*padding=*/one, /*dilation=*/one,
                               dim / weight.sym_size(1))
                 .flatten(2)
                 .transpose(1, 2);
  if (!is_size(class_tokens, 0)) y = at::cat({at::zeros_symint({batch, class_tokens, dim}, y.options()), y}, 1);
  if (addend) y = *addend + y;
  return (gelu ? at::gelu(y) : y).contiguous();
}

// --- CPU -------------------------------------------------------------------------------------------------------------

// Kernels have groups of 1, 2, 4 and 8 channels.
FusedOn convolution_fused_on(const Tensor& tokens, const Tensor& weight) {
  const FusedOn fused = fused_on(tokens, "token_convolution");
  if (fused == FusedOn::none || weight.dim() != 4) return FusedOn::none;
  const auto group = weight.sym_size(1);
  const bool serves = is_size(group, 1) || is_size(group, 2) || is_size(group, 4) || is_size(group, 8);
  return serves ? fused : FusedOn::none;
}

Tensor token_convolution_cpu(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                             const OptionalTensor& addend, int64_t height, int64_t width, int64_t class_tokens,
                             bool gelu) {
  if (convolution_fused_on(tokens, weight) != FusedOn::cpu)
    return token_convolution_composite(tokens, weight, bias, addend, height, width, class_tokens, gelu);
  check_token_convolution(tokens, weight, bias, addend, height, width, class_tokens);
  return token_convolution_forward(tokens, weight, bias, addend, {height, width, class_tokens}, gelu);
}

// Gradients of tokens, weight and bias; the addend's is grad itself.
TokenConvolutionBackward token_convolution_backward_cpu(const Tensor& grad, const Tensor& tokens, const Tensor& weight,
                                                        int64_t height, int64_t width, int64_t class_tokens) {
  check_fused_on_cpu("token_convolution", convolution_fused_on(tokens, weight));
  check_gradient(grad, tokens, weight, height, width, class_tokens);
  const auto d = token_convolution_gradients(grad, tokens, weight, {height, width, class_tokens});
  return {d.tokens, d.weight, d.bias};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

Tensor token_convolution_meta(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                              const OptionalTensor& addend, c10::SymInt height, c10::SymInt width,
                              c10::SymInt class_tokens, bool /*gelu*/) {
  check_token_convolution(tokens, weight, bias, addend, height, width, class_tokens);
  return empty_as(tokens);
}

TokenConvolutionBackward token_convolution_backward_meta(const Tensor& grad, const Tensor& tokens, const Tensor& weight,
                                                         c10::SymInt height, c10::SymInt width,
                                                         c10::SymInt class_tokens) {
  check_gradient(grad, tokens, weight, height, width, class_tokens);
  return {empty_as(tokens), empty_as(weight),
          at::empty_symint({tokens.sym_size(2)}, tokens.options().dtype(at::kFloat))};
}

// --- gradient --------------------------------------------------------------------------------------------------------

Tensor call_token_convolution(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                              const OptionalTensor& addend, c10::SymInt height, c10::SymInt width,
                              c10::SymInt class_tokens, bool gelu) {
  static const auto op = operator_handle<decltype(token_convolution_composite)>("cachet::token_convolution");
  return op.call(tokens, weight, bias, addend, height, width, class_tokens, gelu);
}

struct TokenConvolution : torch::autograd::Function<TokenConvolution> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& tokens, const Tensor& weight,
                        const OptionalTensor& bias, const OptionalTensor& addend, c10::SymInt height, c10::SymInt width,
                        c10::SymInt class_tokens) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({tokens, weight});
    ctx->saved_data["grid"] = std::vector<c10::SymInt>{height, width, class_tokens};
    ctx->saved_data["bias"] = bias.has_value();
    ctx->saved_data["addend"] = addend.has_value();
    return call_token_convolution(tokens, weight, bias, addend, height, width, class_tokens, /*gelu=*/false);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op =
        operator_handle<decltype(token_convolution_backward_meta)>("cachet::token_convolution_backward");
    const auto saved = ctx->get_saved_variables();
    const auto grid = ctx->saved_data["grid"].toSymIntVector();
    const auto [d_tokens, d_weight, d_bias] = op.call(grads[0], saved[0], saved[1], grid[0], grid[1], grid[2]);
    const Tensor none;
    return {d_tokens,
            d_weight,
            ctx->saved_data["bias"].toBool() ? d_bias : none,
            ctx->saved_data["addend"].toBool() ? grads[0] : none,
            none,
            none,
            none};
  }
};

// GELU's gradient needs what stands before it: where there is one, GELU is a pass of its own.
Tensor token_convolution_autograd(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                                  const OptionalTensor& addend, c10::SymInt height, c10::SymInt width,
                                  c10::SymInt class_tokens, bool gelu) {
  if (convolution_fused_on(tokens, weight) == FusedOn::none)
    return token_convolution_composite(tokens, weight, bias, addend, height, width, class_tokens, gelu);
  if (!wants_gradient(tokens, weight, bias, addend)) {
    at::AutoDispatchBelowADInplaceOrView below;
    return call_token_convolution(tokens, weight, bias, addend, height, width, class_tokens, gelu);
  }
  const Tensor y = TokenConvolution::apply(tokens, weight, bias, addend, height, width, class_tokens);
  return gelu ? at::gelu(y) : y;
}

}  // namespace

Tensor token_convolution(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias, const TokenGrid& grid,
                         const OptionalTensor& addend, AfterConvolution after) {
  return call_token_convolution(tokens, weight, bias, addend, grid.height, grid.width, grid.class_tokens,
                                after == AfterConvolution::gelu);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "token_convolution(Tensor tokens, Tensor weight, Tensor? bias, Tensor? addend, SymInt height, "
           "SymInt width, SymInt class_tokens=0, bool gelu=False) -> Tensor")
      .composite(token_convolution_composite)
      .cpu(token_convolution_cpu)
      .meta(token_convolution_meta)
      .autograd(token_convolution_autograd)
      .autocast<call_token_convolution, 0, 1, 3>();
  Operator(m,
           "token_convolution_backward(Tensor grad, Tensor tokens, Tensor weight, SymInt height, SymInt width, "
           "SymInt class_tokens) -> (Tensor, Tensor, Tensor)")
      .cpu(token_convolution_backward_cpu)
      .meta(token_convolution_backward_meta)
      .without_gradient("token_convolution", kFusedOnce);
}

}  // namespace cachet::ops
