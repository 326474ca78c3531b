#include "cachet/ops/tokens/token_convolution.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/ops/support/call.h"
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

// Operands of the operator, in the order of its schema.
struct TokenConvolutionCall {
  Tensor tokens, weight;
  OptionalTensor bias, addend;
  c10::SymInt height, width, class_tokens;
  bool gelu;

  template <class Take>
  auto list(const Take& take) const {
    return take(tokens, weight, bias, addend, height, width, class_tokens, gelu);
  }
  TokenGrid grid() const { return {height.expect_int(), width.expect_int(), class_tokens.expect_int()}; }
};

using TokenConvolutionForms =
    Listed<TokenConvolutionCall, Tensor(const Tensor&, const Tensor&, const OptionalTensor&, const OptionalTensor&,
                                        c10::SymInt, c10::SymInt, c10::SymInt, bool)>;

// Operands of the backward operator, in the order of its schema.
struct TokenConvolutionGradientCall {
  Tensor grad, tokens, weight;
  c10::SymInt height, width, class_tokens;

  // The forward pass, without what no gradient depends on.
  TokenConvolutionCall forward() const { return {tokens, weight, {}, {}, height, width, class_tokens, false}; }
};

using TokenConvolutionGradientForms =
    Listed<TokenConvolutionGradientCall, TokenConvolutionBackward(const Tensor&, const Tensor&, const Tensor&,
                                                                  c10::SymInt, c10::SymInt, c10::SymInt)>;

void check_token_convolution(const TokenConvolutionCall& call) {
  const Tensor &tokens = call.tokens, &weight = call.weight;
  TORCH_CHECK(tokens.dim() == 3 && tokens.is_floating_point(),
              "token_convolution: tokens must be floating (B, L, D), got ", tokens.scalar_type(), " ",
              tokens.sym_sizes());
  TORCH_CHECK(at_least(call.height, 1) && at_least(call.width, 1) && at_least(call.class_tokens, 0) &&
                  same_size(call.class_tokens + call.height * call.width, tokens.sym_size(1)),
              "token_convolution: ", call.class_tokens, " class tokens + a grid of ", call.height, " x ", call.width,
              " tokens must equal the number of tokens, which is ", tokens.sym_size(1));
  check_same_device("token_convolution", tokens, {{"weight", weight}, {"bias", call.bias}, {"addend", call.addend}});
  const auto dim = tokens.sym_size(2);
  TORCH_CHECK(weight.dim() == 4 && same_size(weight.sym_size(0), dim) && divides(weight.sym_size(1), dim) &&
                  same_size(weight.sym_size(2), 3) && same_size(weight.sym_size(3), 3),
              "token_convolution: weight must be (D, D / groups, 3, 3) with D = ", dim, ", got ", weight.sym_sizes());
  TORCH_CHECK(weight.scalar_type() == tokens.scalar_type(), "token_convolution: weight must have the dtype of tokens, ",
              tokens.scalar_type(), ", got ", weight.scalar_type());
  if (call.bias) check_vector("token_convolution", *call.bias, "D", dim, "bias");
  TORCH_CHECK(!call.addend || (same_sizes(call.addend->sym_sizes(), tokens.sym_sizes()) &&
                               call.addend->scalar_type() == tokens.scalar_type()),
              "token_convolution: addend must have the dtype and sizes of tokens, ", tokens.scalar_type(), " ",
              tokens.sym_sizes(), ", got ", call.addend->scalar_type(), " ", call.addend->sym_sizes());
}

void check_gradient(const TokenConvolutionGradientCall& call) {
  check_token_convolution(call.forward());
  check_shape("token_convolution_backward", "grad", call.grad, call.tokens.sym_sizes(), call.tokens);
}

Tensor token_convolution_composite(const TokenConvolutionCall& call) {
  check_token_convolution(call);
  const Tensor &tokens = call.tokens, &weight = call.weight;
  const auto batch = tokens.sym_size(0), dim = tokens.sym_size(2);
  const Tensor image =
      tokens.slice_symint(1, call.class_tokens).transpose(1, 2).reshape_symint({batch, dim, call.height, call.width});
  const OptionalTensor shift = call.bias ? OptionalTensor(call.bias->to(weight.scalar_type())) : std::nullopt;
  const c10::SymInt one = 1;
  Tensor y = at::conv2d_symint(image, weight, shift, /*stride=*/one, /*padding=*/one, /*dilation=*/one,
                               dim / weight.sym_size(1))
                 .flatten(2)
                 .transpose(1, 2);
  if (!is_size(call.class_tokens, 0))
    y = at::cat({at::zeros_symint({batch, call.class_tokens, dim}, y.options()), y}, 1);
  if (call.addend) y = *call.addend + y;
  return (call.gelu ? at::gelu(y) : y).contiguous();
}

// --- CPU -------------------------------------------------------------------------------------------------------------

// Kernels have groups of 1, 2, 4 and 8 channels.
FusedOn convolution_fused_on(const TokenConvolutionCall& call) {
  const FusedOn fused = fused_on(call.tokens, "token_convolution");
  if (fused == FusedOn::none || call.weight.dim() != 4) return FusedOn::none;
  const auto group = call.weight.sym_size(1);
  const bool serves = is_size(group, 1) || is_size(group, 2) || is_size(group, 4) || is_size(group, 8);
  return serves ? fused : FusedOn::none;
}

Tensor token_convolution_cpu(const TokenConvolutionCall& call) {
  if (convolution_fused_on(call) != FusedOn::cpu) return token_convolution_composite(call);
  check_token_convolution(call);
  return token_convolution_forward(call.tokens, call.weight, call.bias, call.addend, call.grid(), call.gelu);
}

// Gradients of tokens, weight and bias; the addend's is grad itself.
TokenConvolutionBackward token_convolution_backward_cpu(const TokenConvolutionGradientCall& call) {
  check_fused_on_cpu("token_convolution", convolution_fused_on(call.forward()));
  check_gradient(call);
  const auto d = token_convolution_gradients(call.grad, call.tokens, call.weight, call.forward().grid());
  return {d.tokens, d.weight, d.bias};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

Tensor token_convolution_meta(const TokenConvolutionCall& call) {
  check_token_convolution(call);
  return empty_as(call.tokens);
}

TokenConvolutionBackward token_convolution_backward_meta(const TokenConvolutionGradientCall& call) {
  check_gradient(call);
  return {empty_as(call.tokens), empty_as(call.weight),
          at::empty_symint({call.tokens.sym_size(2)}, call.tokens.options().dtype(at::kFloat))};
}

// --- gradient --------------------------------------------------------------------------------------------------------

Tensor call_token_convolution(const TokenConvolutionCall& call) {
  static const auto op = operator_handle<TokenConvolutionForms::Signature>("cachet::token_convolution");
  return TokenConvolutionForms::call(op, call);
}

// Without GELU.
struct TokenConvolution : torch::autograd::Function<TokenConvolution> {
  template <class... Operands>
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Operands&... operands) {
    at::AutoDispatchBelowADInplaceOrView below;
    const TokenConvolutionCall call{operands...};
    ctx->save_for_backward({call.tokens, call.weight});
    ctx->saved_data["grid"] = std::vector<c10::SymInt>{call.height, call.width, call.class_tokens};
    ctx->saved_data["bias"] = call.bias.has_value();
    ctx->saved_data["addend"] = call.addend.has_value();
    return call_token_convolution(call);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op =
        operator_handle<TokenConvolutionGradientForms::Signature>("cachet::token_convolution_backward");
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
            none,
            none};
  }
};

// GELU's gradient needs the value before GELU. If there is a gradient, GELU is a pass of its own.
Tensor token_convolution_autograd(const TokenConvolutionCall& call) {
  if (convolution_fused_on(call) == FusedOn::none) return token_convolution_composite(call);
  if (!wants_gradient(call.tokens, call.weight, call.bias, call.addend)) {
    at::AutoDispatchBelowADInplaceOrView below;
    return call_token_convolution(call);
  }
  TokenConvolutionCall linear = call;
  linear.gelu = false;
  const Tensor y = linear.list([](const auto&... operands) { return TokenConvolution::apply(operands...); });
  return call.gelu ? at::gelu(y) : y;
}

}  // namespace

Tensor token_convolution(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias, const TokenGrid& grid,
                         const OptionalTensor& addend, AfterConvolution after) {
  return call_token_convolution(
      {tokens, weight, bias, addend, grid.height, grid.width, grid.class_tokens, after == AfterConvolution::gelu});
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "token_convolution(Tensor tokens, Tensor weight, Tensor? bias, Tensor? addend, SymInt height, "
           "SymInt width, SymInt class_tokens=0, bool gelu=False) -> Tensor")
      .composite(TokenConvolutionForms::form<token_convolution_composite>)
      .cpu(TokenConvolutionForms::form<token_convolution_cpu>)
      .meta(TokenConvolutionForms::form<token_convolution_meta>)
      .autograd(TokenConvolutionForms::form<token_convolution_autograd>)
      .autocast<&TokenConvolutionForms::form<call_token_convolution>, 0, 1, 3>();
  Operator(m,
           "token_convolution_backward(Tensor grad, Tensor tokens, Tensor weight, SymInt height, SymInt width, "
           "SymInt class_tokens) -> (Tensor, Tensor, Tensor)")
      .cpu(TokenConvolutionGradientForms::form<token_convolution_backward_cpu>)
      .meta(TokenConvolutionGradientForms::form<token_convolution_backward_meta>)
      .without_gradient("token_convolution", kFusedOnce);
}

}  // namespace cachet::ops
