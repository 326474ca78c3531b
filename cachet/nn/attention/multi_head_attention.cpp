#include "cachet/nn/attention/multi_head_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "cachet/nn/attention/relative_position_bias.h"
#include "cachet/nn/initialization.h"
#include "cachet/ops/linear.h"

namespace cachet::nn {

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& o)
    : Attention("MultiHeadAttention"),
      num_heads_(o.num_heads),
      head_dim_(o.attention.head_dim > 0 ? o.attention.head_dim : o.dim / o.num_heads),
      projection_dropout_(o.attention.projection_dropout),
      relative_window_(o.relative_window) {
  TORCH_CHECK(o.attention.head_dim > 0 || o.dim % o.num_heads == 0, "multi_head_attention: ", o.num_heads,
              " heads do not divide ", o.dim, " channels; say how many channels each has");
  const int64_t inner = num_heads_ * head_dim_;
  if (relative_window_)
    relative_position_bias_table_ = register_parameter("relative_position_bias_table",
                                                       at::empty({relative_offsets(*relative_window_), o.num_heads}));
  if (shares_query_and_key(o.attention.function)) {
    qk_v_ = register_module("qk_v", std::make_shared<Linear>(o.dim, 2 * inner, o.attention.qkv_bias));
  } else if (o.projection == Projection::fused) {
    qkv_ = register_module("qkv", std::make_shared<Linear>(o.dim, 3 * inner, o.attention.qkv_bias));
  } else {
    q_ = register_module("q", std::make_shared<Linear>(o.dim, inner, o.attention.qkv_bias));
    kv_ = register_module("kv", std::make_shared<Linear>(o.dim, 2 * inner, o.attention.qkv_bias));
  }
  proj_ = register_module("proj", std::make_shared<Linear>(inner, o.dim, o.attention.projection_bias));
  function_ = register_module("function", make_attention_function(o.attention.function, num_heads_, head_dim_));
  if (relative_window_) truncated_normal_(relative_position_bias_table_);
}

MultiHeadAttention::Heads MultiHeadAttention::project(const torch::Tensor& query, const torch::Tensor& context) const {
  // (B, L, n·D) -> n tensors (B, H, L, d)
  const auto split = [&](const torch::Tensor& x, int64_t n) {
    return x.view({x.size(0), x.size(1), n, num_heads_, head_dim_}).permute({2, 0, 3, 1, 4}).unbind(0);
  };
  if (qk_v_) {
    const auto parts = split(qk_v_->forward(context), 2);
    if (query.is_same(context)) return {parts[0], parts[0], parts[1]};
    const int64_t width = qk_v_->weight.size(0) / 2;
    const auto bias = qk_v_->bias.defined() ? std::optional(qk_v_->bias.narrow(0, 0, width)) : std::nullopt;
    return {split(ops::linear(query, qk_v_->weight.narrow(0, 0, width), bias), 1)[0], parts[0], parts[1]};
  }
  if (qkv_) {
    TORCH_CHECK(query.is_same(context),
                "multi_head_attention: fused projections serve self-attention only; make the "
                "layer with Projection::separate for a context of its own");
    const auto parts = split(qkv_->forward(query), 3);
    return {parts[0], parts[1], parts[2]};
  }
  const auto parts = split(kv_->forward(context), 2);
  return {split(q_->forward(query), 1)[0], parts[0], parts[1]};
}

std::shared_ptr<AttentionState> MultiHeadAttention::make_state(int64_t batch, StreamUse use) const {
  auto state = std::make_shared<AttentionState>();
  if (use == StreamUse::decoding) {
    const auto options = proj_->weight.options().requires_grad(false);
    if (function_->keeps_stream()) {
      function_->begin_stream(*state, batch, options);
      return state;
    }
    for (const char* name : {"keys", "values"})
      state->tensors[name] = at::zeros({batch, num_heads_, 0, head_dim_}, options);
    state->tensors["padding"] = at::zeros({batch, 0}, options.dtype(at::kBool));
  }
  return state;
}

// Puts the keys, values and padding of earlier calls before this one's.
AttentionLayout MultiHeadAttention::remember(Heads& heads, const AttentionLayout& layout) const {
  if (!layout.state || !layout.state->tensors.count("keys")) return layout;
  auto& past = layout.state->tensors;
  TORCH_CHECK(past["keys"].size(0) == heads.k.size(0), "multi_head_attention: the state has ", past["keys"].size(0),
              " lanes, the context ", heads.k.size(0));
  const torch::Tensor padding = layout.context.padding.defined()
                                    ? layout.context.padding
                                    : at::zeros({heads.k.size(0), heads.k.size(2)}, past["padding"].options());
  heads.k = past["keys"] = at::cat({past["keys"], heads.k}, 2);
  heads.v = past["values"] = at::cat({past["values"], heads.v}, 2);
  past["padding"] = at::cat({past["padding"], padding}, 1);
  AttentionLayout whole = layout;
  whole.context = {std::nullopt, 0, past["padding"]};
  return whole;
}

AttentionLayout MultiHeadAttention::add_relative_bias(const AttentionLayout& layout) const {
  if (!relative_window_) return layout;
  AttentionLayout biased = layout;
  const at::Device device = relative_position_bias_table_.device();
  const auto index = relative_index_.get([&](const at::Tensor& kept) { return kept.device() == device; },
                                         [&] { return relative_index(*relative_window_, device); });
  const torch::Tensor bias = relative_position_bias(relative_position_bias_table_, *index, *relative_window_);
  biased.bias = layout.bias.defined() ? layout.bias + bias : bias;
  return biased;
}

torch::Tensor MultiHeadAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                          const AttentionLayout& layout) {
  check_layout("multi_head_attention: query", query, layout.query);
  check_layout("multi_head_attention: context", context, layout.context);
  TORCH_CHECK(context.size(0) == query.size(0) || context.size(0) == 1, "multi_head_attention: context has batch ",
              context.size(0), ", query ", query.size(0));
  Heads heads = project(query, context);
  const AttentionLayout whole = remember(heads, add_relative_bias(layout));
  const torch::Tensor mixed = function_->forward(heads.q, heads.k, heads.v, whole).transpose(1, 2);
  const torch::Tensor out = proj_->forward(mixed.reshape({query.size(0), query.size(1), num_heads_ * head_dim_}));
  return zero_padding(at::dropout(out, projection_dropout_, is_training()), layout.query);
}

}  // namespace cachet::nn
