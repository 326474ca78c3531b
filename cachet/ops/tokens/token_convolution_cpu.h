#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/tokens/token_convolution.h"

namespace cachet::ops {

// Token convolution on the CPU, in float32 and bfloat16, with groups of 1, 2, 4 or 8 channels
// (ops/tokens/token_convolution.h has the formulas). Callers check the operands.

at::Tensor token_convolution_forward(const at::Tensor& tokens, const at::Tensor& weight, const OptionalTensor& bias,
                                     const OptionalTensor& addend, const TokenGrid& grid, bool gelu);

/// The gradients of tokens, weight and bias. The gradient of the addend is the output gradient `grad` itself.
struct TokenConvolutionGradients {
  at::Tensor tokens, weight, bias;
};

TokenConvolutionGradients token_convolution_gradients(const at::Tensor& grad, const at::Tensor& tokens,
                                                      const at::Tensor& weight, const TokenGrid& grid);

}  // namespace cachet::ops
