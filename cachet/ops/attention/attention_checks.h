#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// What attention asks of the keys and values that go with q (B, H, Lq, n): k (B or 1, H, Lk, n), v (B or 1, H, Lk, e),
/// of one dtype. Throws c10::Error, opening with the operator's name; `width` is what its documentation calls n.
void check_attention_operands(const char* op, char width, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v);

}  // namespace cachet::ops
