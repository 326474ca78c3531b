#include "cachet/nn/attention/token_transformer.h"

#include <ATen/TensorOperators.h>

#include <cmath>

#include "cachet/nn/attention/three_projections.h"
#include "cachet/nn/base/option_checks.h"

namespace cachet::nn {

TokenTransformer::TokenTransformer(const TokenTransformerOptions& o)
    : Cloneable("TokenTransformer"),
      // The attention function divides by √token_dim.
      scale_(std::sqrt(static_cast<double>(o.token_dim) / static_cast<double>(o.dim))) {
  check_positive("token_transformer: dim", o.dim);
  check_positive("token_transformer: token_dim", o.token_dim);
  qkv_ = register_module("qkv", std::make_shared<Linear>(o.dim, 3 * o.token_dim, /*with_bias=*/false));
  proj_ = register_module("proj", std::make_shared<Linear>(o.token_dim, o.token_dim));
  function_ = register_module("function", make_attention_function(o.softmax, 1, o.token_dim));
}

torch::Tensor TokenTransformer::forward(const torch::Tensor& query, const torch::Tensor& context,
                                        const AttentionArgs& args) {
  check_tokens("token_transformer: query", query, qkv_->weight.size(1), args.query);
  check_tokens("token_transformer: context", context, qkv_->weight.size(1), args.context);
  TORCH_CHECK(!args.causal && !args.state,
              "token_transformer: cannot use a causal mask or a session state, because a token transformer attends to "
              "all tokens at once");
  const auto [q, k, v] = three_projections(*qkv_, 0, query, context);
  const torch::Tensor mixed =
      function_->forward((q * scale_).unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), args).squeeze(1);
  const torch::Tensor out = proj_->forward(mixed);
  return zero_padding(query.is_same(context) ? v + out : out, args.query);
}

}  // namespace cachet::nn
