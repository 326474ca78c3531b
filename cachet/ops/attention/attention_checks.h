#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// Throws c10::Error unless k and v fit q (B, H, Lq, n): k (B or 1, H, Lk, n), v (B or 1, H, Lk, e), all of one dtype.
/// The message begins with `op`. `width` is the letter for n in the message and in the documentation of the operator.
void check_attention_operands(const char* op, char width, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v);

}  // namespace cachet::ops
