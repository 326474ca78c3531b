#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"

namespace cachet::nn {

/// Scaled dot product attention with softmax.
struct SoftmaxOptions {
  double dropout = 0.0;  // of attention weights
};

using AttentionFunctionOptions = std::variant<SoftmaxOptions>;

struct AttentionOptions {
  AttentionFunctionOptions function;
  bool qkv_bias = true;
  double projection_dropout = 0.0;
};

/// Reads an `attention` table: kind = "softmax", that kind's options, qkv_bias, projection_dropout.
AttentionOptions read_attention_options(const config::View& table);

/// head_dim: channels of a query in one head.
std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim);

}  // namespace cachet::nn
