#include "cachet/nn/attention/fixed_context_attention.h"

#include <utility>

namespace cachet::nn {

FixedContextAttention::FixedContextAttention(FixedContextParts parts)
    : Cloneable("FixedContextAttention"), context_(std::move(parts.context)) {
  q_ = register_module("q", std::move(parts.q));
  proj_ = register_module("proj", std::move(parts.proj));
  function_ = register_module("function", std::move(parts.function));
  keys = register_buffer("keys", parts.keys);
  values = register_buffer("values", parts.values);
  eval();
}

torch::Tensor FixedContextAttention::forward(const torch::Tensor& query, const torch::Tensor&,
                                             const AttentionArgs& args) {
  check_tokens("fixed_context_attention: query", query, q_->weight.size(1), args.query);
  const torch::Tensor q =
      q_->forward(query).view({query.size(0), query.size(1), keys.size(1), keys.size(3)}).transpose(1, 2);
  AttentionArgs whole = args;
  whole.context = context_;
  const torch::Tensor mixed = function_->forward(q, keys, values, whole).transpose(1, 2);
  return zero_padding(proj_->forward(mixed.reshape({query.size(0), query.size(1), -1})), args.query);
}

void FixedContextAttention::fold_affine_into_query(const Affine& before) { q_->fold_affine_before(before); }

}  // namespace cachet::nn
