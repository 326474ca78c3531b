#include "cachet/nn/attention/multi_head_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <vector>

#include "cachet/nn/attention/fixed_context_attention.h"
#include "cachet/nn/attention/functions/kernel_attention.h"
#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/nn/attention/heads.h"
#include "cachet/nn/attention/relative_position_bias.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::nn {

namespace {

// The options, once they make sense: members are made of them.
const MultiHeadOptions& checked(const MultiHeadOptions& o) {
  const int64_t head_dim = o.attention.head_dim;
  check_positive("multi_head_attention: dim", o.dim);
  TORCH_CHECK(o.context_dim >= 0, "multi_head_attention: context_dim must be at least 0, got ", o.context_dim);
  check_positive("multi_head_attention: num_heads", o.num_heads);
  TORCH_CHECK(head_dim >= 0, "multi_head_attention: head_dim must be at least 0, got ", head_dim);
  TORCH_CHECK(head_dim > 0 || o.dim % o.num_heads == 0, "multi_head_attention: num_heads must divide dim, but ",
              o.num_heads, " does not divide ", o.dim, "; set head_dim, the number of channels of each head");
  check_dropout("multi_head_attention: projection_dropout", o.attention.projection_dropout);
  const bool apart = o.projection == Projection::separate && !shares_query_and_key(o.attention.function);
  TORCH_CHECK(apart || o.context_dim == 0 || o.context_dim == o.dim, "multi_head_attention: a context of ",
              o.context_dim, " channels needs separate projections of keys and queries; use Projection::separate");
  if (const auto& window = o.relative_window)
    TORCH_CHECK(window->height >= 1 && window->width >= 1,
                "multi_head_attention: relative_window must have at least one position, got ", window->height, " x ",
                window->width);
  return o;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& o)
    : Cloneable("MultiHeadAttention"),
      dim_(checked(o).dim),
      context_dim_(o.context_dim > 0 ? o.context_dim : o.dim),
      num_heads_(o.num_heads),
      head_dim_(o.attention.head_dim > 0 ? o.attention.head_dim : o.dim / o.num_heads),
      projection_dropout_(o.attention.projection_dropout),
      relative_window_(o.relative_window) {
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
    kv_ = register_module("kv", std::make_shared<Linear>(context_dim_, 2 * inner, o.attention.qkv_bias));
  }
  proj_ = register_module("proj", std::make_shared<Linear>(inner, o.dim, o.attention.projection_bias));
  function_ = register_module("function", make_attention_function(o.attention.function, num_heads_, head_dim_));
  if (relative_window_) truncated_normal_(relative_position_bias_table_);
}

namespace {

constexpr const char* kFusedServesItself =
    "multi_head_attention: fused projections are for self-attention only; for another context, make the layer with "
    "Projection::separate";

}  // namespace

torch::Tensor MultiHeadAttention::project_query(const torch::Tensor& query) const {
  TORCH_CHECK(!qkv_, kFusedServesItself);
  if (q_) return split_heads(q_->forward(query), 1, num_heads_, head_dim_)[0];
  const int64_t width = qk_v_->weight.size(0) / 2;
  return split_heads(qk_v_->forward_part(query, 0, width), 1, num_heads_, head_dim_)[0];
}

void MultiHeadAttention::project_context(const torch::Tensor& context, Heads& heads) const {
  const auto parts = split_heads((qk_v_ ? qk_v_ : kv_)->forward(context), 2, num_heads_, head_dim_);
  heads.k = parts[0];
  heads.v = parts[1];
}

MultiHeadAttention::Heads MultiHeadAttention::project(const torch::Tensor& query, const torch::Tensor& context) const {
  if (qkv_ && query.is_same(context)) {
    const auto parts = split_heads(qkv_->forward(query), 3, num_heads_, head_dim_);
    return {parts[0], parts[1], parts[2]};
  }
  TORCH_CHECK(!qkv_, kFusedServesItself);
  Heads heads;
  project_context(context, heads);  // before the query: the order in which their gradients are added up
  heads.q = qk_v_ && query.is_same(context) ? heads.k : project_query(query);
  return heads;
}

std::shared_ptr<AttentionState> MultiHeadAttention::make_state(int64_t batch, SessionUse use) const {
  auto state = std::make_shared<AttentionState>(batch);
  const auto options = proj_->options();
  if (use == SessionUse::fixed_context) {
    TORCH_CHECK(!qkv_,
                "multi_head_attention: fused projections are for self-attention only, which cannot have a fixed "
                "context; make the layer with Projection::separate");
    for (const char* name : {"context_keys", "context_values", "context_padding"})
      state->declare(name, StateOwner::either);
  }
  if (use != SessionUse::decoding) return state;
  if (function_->keeps_state()) {
    function_->declare_state(*state, options);
    return state;
  }
  for (const char* name : {"keys", "values"})
    state->declare_growing(name, at::zeros({batch, num_heads_, 0, head_dim_}, options), 2);
  state->declare_growing("padding", at::zeros({batch, 0}, options.dtype(at::kBool)), 1);
  return state;
}

namespace {

// Which of the keys of all calls are padding; undefined as long as none is, which is a mask less to look at.
torch::Tensor all_padding(AttentionState& past, const torch::Tensor& padding, int64_t earlier, int64_t added) {
  const torch::Tensor known = past.get("padding");
  if (!padding.defined() && known.size(1) == 0) return {};
  const auto none = [&](int64_t length) { return at::zeros({past.batch_rows(), length}, known.options()); };
  if (known.size(1) < earlier) past.append("padding", none(earlier));
  return past.append("padding", padding.defined() ? padding : none(added));
}

// The state of a session with room for a fixed number of tokens: writes the key and value of one token at the position
// in the state, and masks the positions after it.
AttentionArgs write_at_position(torch::Tensor& keys, torch::Tensor& values, const AttentionArgs& args) {
  const AttentionState& state = *args.state;
  TORCH_CHECK(keys.size(2) == 1, "multi_head_attention: a state with a position reads one token at a time, got ",
              keys.size(2));
  const torch::Tensor position = state.get("position");
  const auto write = [&](const char* name, torch::Tensor& value) {
    const torch::Tensor all = state.get(name);
    all.index_copy_(2, position, value.to(all.scalar_type()));
    value = all;
  };
  write("keys", keys);
  write("values", values);
  const torch::Tensor later = at::arange(keys.size(2), position.options()).gt(position).unsqueeze(0);
  AttentionArgs whole = args;
  whole.causal = false;
  whole.context = {std::nullopt, 0, later.expand({keys.size(0), keys.size(2)})};
  return whole;
}

}  // namespace

// Puts the keys, values and padding of earlier calls before this one's.
AttentionArgs MultiHeadAttention::remember(Heads& heads, const AttentionArgs& args) const {
  if (!args.state || !args.state->declares("keys")) return args;
  AttentionState& past = *args.state;
  TORCH_CHECK(past.batch_rows() == heads.k.size(0), "multi_head_attention: the state has ", past.batch_rows(),
              " batch rows, but the context has ", heads.k.size(0));
  if (past.declares("position")) return write_at_position(heads.k, heads.v, args);
  const int64_t added = heads.k.size(2);
  heads.k = past.append("keys", heads.k);
  heads.v = past.append("values", heads.v);
  AttentionArgs whole = args;
  whole.context = {std::nullopt, 0, all_padding(past, args.context.padding, heads.k.size(2) - added, added)};
  return whole;
}

// Takes the keys, values and padding of the first call's context, which that call leaves in the state.
AttentionArgs MultiHeadAttention::fixed_context(Heads& heads, const torch::Tensor& context,
                                                const AttentionArgs& args) const {
  AttentionState& state = *args.state;
  TORCH_CHECK(state.batch_rows() == heads.q.size(0), "multi_head_attention: the state has ", state.batch_rows(),
              " batch rows, but the query has ", heads.q.size(0));
  if (!state.get("context_keys").defined()) {
    check_tokens("multi_head_attention: context", context, context_dim_, args.context);
    project_context(context, heads);
    state.set("context_keys", heads.k);
    state.set("context_values", heads.v);
    if (args.context.padding.defined()) state.set("context_padding", args.context.padding);
  }
  heads.k = state.get("context_keys");
  heads.v = state.get("context_values");
  AttentionArgs whole = args;
  whole.context.padding = state.get("context_padding");
  return whole;
}

void MultiHeadAttention::concatenate_cache(int64_t tokens, const TokenLayout&) {
  TORCH_CHECK(dynamic_cast<const SoftmaxAttention*>(function_.get()),
              "multi_head_attention: a concatenated cache needs softmax attention: ", kConcatenatedIsForImages);
  cache_ = register_module("cache", std::make_shared<ConcatenatedCache>(context_dim_, tokens));
}

void MultiHeadAttention::project_memory(const torch::Tensor& tokens, Heads& heads) const {
  if (!qkv_) return project_context(tokens, heads);
  const int64_t width = qkv_->weight.size(0) / 3;
  const auto parts = split_heads(qkv_->forward_part(tokens, width, 2 * width), 2, num_heads_, head_dim_);
  heads.k = parts[0];
  heads.v = parts[1];
}

// The memory's keys and values (1, H, L, d); none as long as it holds no step.
std::optional<MultiHeadAttention::Heads> MultiHeadAttention::read_memory(const torch::Tensor& context,
                                                                         const AttentionArgs& args) {
  Heads memory{{}, memory_keys_, memory_values_};
  if (!cache_) return memory_held_.of(memory_keys_) ? std::optional(memory) : std::nullopt;
  const bool holds_step = cache_->holds_step();
  const torch::Tensor tokens = cache_->step(context, {}, args).tokens;
  if (!holds_step) return std::nullopt;
  notify(Signal::memory_tokens, tokens);
  project_memory(tokens.to(context.scalar_type()), memory);
  return memory;
}

// Puts the memory's keys and values after the layer's own.
AttentionArgs MultiHeadAttention::add_memory(Heads& heads, const torch::Tensor& context, const AttentionArgs& args) {
  if (!cache_ && !memory_keys_.defined()) return args;
  TORCH_CHECK(!args.causal && !args.state,
              "multi_head_attention: a concatenated cache cannot be used with a causal mask or a session state, "
              "because its tokens have no order");
  const std::optional<Heads> memory = read_memory(context, args);
  if (!memory) return args;
  const int64_t entries = memory->k.size(2);
  const auto joined = [](const torch::Tensor& own, const torch::Tensor& kept) {
    return at::cat({own, kept.to(own.scalar_type()).expand({own.size(0), -1, -1, -1})}, 2);
  };
  heads.k = joined(heads.k, memory->k);
  heads.v = joined(heads.v, memory->v);
  AttentionArgs whole = args;
  whole.context = {};
  if (args.context.padding.defined())
    whole.context.padding = at::constant_pad_nd(args.context.padding, {0, entries}, false);
  if (args.bias.defined()) whole.bias = at::constant_pad_nd(args.bias, {0, entries});
  return whole;
}

AttentionArgs MultiHeadAttention::add_relative_bias(const AttentionArgs& args) const {
  if (!relative_window_) return args;
  AttentionArgs biased = args;
  const at::Device device = relative_position_bias_table_.device();
  const auto index = relative_index_.get([&](const at::Tensor& kept) { return kept.device() == device; },
                                         [&] { return relative_index(*relative_window_, device); });
  const torch::Tensor bias = relative_position_bias(relative_position_bias_table_, *index, *relative_window_);
  biased.bias = args.bias.defined() ? args.bias + bias : bias;
  return biased;
}

namespace {

// For fewer keys and values than batch rows, (G, H, Lk, d) and (N, H, L, d), each of which serves N/G batch rows: their
// queries are queries of one, side by side, (G, H, N/G·L, d).
torch::Tensor mix_in_groups(AttentionFunction& function, const torch::Tensor& q, const torch::Tensor& k,
                            const torch::Tensor& v, const AttentionArgs& args) {
  const int64_t groups = k.size(0), in_group = q.size(0) / groups, heads = q.size(1), length = q.size(2);
  if (!function.queries_stand_alone() || args.causal || args.bias.defined() || args.query.padding.defined()) {
    AttentionArgs own = args;
    if (args.context.padding.defined()) own.context.padding = args.context.padding.repeat_interleave(in_group, 0);
    return function.forward(q, k.repeat_interleave(in_group, 0), v.repeat_interleave(in_group, 0), own);
  }
  const torch::Tensor beside = q.reshape({groups, in_group, heads, length, q.size(3)})
                                   .transpose(1, 2)
                                   .reshape({groups, heads, in_group * length, q.size(3)});
  const torch::Tensor mixed = function.forward(beside, k, v, args);
  return mixed.reshape({groups, heads, in_group, length, mixed.size(3)})
      .transpose(1, 2)
      .reshape({q.size(0), heads, length, mixed.size(3)});
}

}  // namespace

torch::Tensor MultiHeadAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                          const AttentionArgs& args) {
  check_tokens("multi_head_attention: query", query, dim_, args.query);
  AttentionArgs whole;
  Heads heads;
  if (args.state && args.state->declares("context_keys")) {
    heads.q = project_query(query);
    whole = fixed_context(heads, context, add_relative_bias(args));
  } else {
    check_tokens("multi_head_attention: context", context, context_dim_, args.context);
    TORCH_CHECK(context.size(0) == query.size(0) || context.size(0) == 1,
                "multi_head_attention: the batch of the context must be 1 or the batch of the query, ", query.size(0),
                ", got ", context.size(0));
    heads = project(query, context);
    whole = add_memory(heads, context, remember(heads, add_relative_bias(args)));
  }
  const bool in_groups = args.state && args.state->declares("context_keys") && heads.k.size(0) < heads.q.size(0);
  const torch::Tensor mixed = (in_groups ? mix_in_groups(*function_, heads.q, heads.k, heads.v, whole)
                                         : function_->forward(heads.q, heads.k, heads.v, whole))
                                  .transpose(1, 2);
  heads = {};  // without a gradient nothing else holds them: the projection has their memory
  const torch::Tensor out = proj_->forward(mixed.reshape({query.size(0), query.size(1), num_heads_ * head_dim_}));
  return zero_padding(ops::dropout(out, projection_dropout_, is_training()), args.query);
}

// What a function makes of values each of which has a channel of its own.
torch::Tensor MultiHeadAttention::weights_of(const torch::Tensor& query, const torch::Tensor& context,
                                             const AttentionArgs& args) const {
  check_tokens("multi_head_attention: context", context, context_dim_, args.context);
  Heads heads;
  project_context(context, heads);
  const int64_t length = context.size(1);
  const torch::Tensor values = at::eye(length, query.options()).expand({context.size(0), num_heads_, length, length});
  return function_->forward(query, heads.k, values, args);
}

void MultiHeadAttention::refuse_to_absorb() const {
  TORCH_CHECK(!cache_,
              "multi_head_attention: cannot fold in an affine map, because the cache reads the same tokens; call "
              "freeze_cache() first");
}

void MultiHeadAttention::fold_affine_before(const Affine& before) {
  refuse_to_absorb();
  TORCH_CHECK(!kv_ || context_dim_ == dim_, "multi_head_attention: cannot fold an affine map of ", dim_,
              " channels into a context of ", context_dim_, " channels");
  TORCH_CHECK(before.scale.numel() == dim_, "multi_head_attention: an affine map to fold in must have ", dim_,
              " channels, got ", before.scale.numel());
  for (const auto& linear : {qkv_, qk_v_, q_, kv_})
    if (linear) linear->fold_affine_before(before);
}

void MultiHeadAttention::fold_affine_into_query(const Affine& before) {
  if (!q_) return Attention::fold_affine_into_query(before);
  q_->fold_affine_before(before);
}

void MultiHeadAttention::fold_affine_into_context(const Affine& before) {
  refuse_to_absorb();
  TORCH_CHECK(kv_,
              "multi_head_attention: cannot fold an affine map into the keys and values only, because keys and "
              "queries share a projection");
  kv_->fold_affine_before(before);
}

std::shared_ptr<Attention> MultiHeadAttention::with_fixed_context(const torch::Tensor& context,
                                                                  const TokenLayout& layout) const {
  TORCH_CHECK(!is_training(),
              "multi_head_attention: constant keys and values are for evaluation only; call eval() first");
  TORCH_CHECK(!qkv_ && !relative_window_,
              "multi_head_attention: this layer is for self-attention only and cannot have constant keys and values");
  const at::NoGradGuard no_grad;
  check_tokens("multi_head_attention: context", context, context_dim_, layout);
  Heads heads;
  project_context(context, heads);
  std::shared_ptr<Linear> query = q_;
  if (!query) {
    // Of the projection that queries and keys share, as it is now.
    const int64_t width = qk_v_->weight.size(0) / 2;
    query = std::make_shared<Linear>(qk_v_->weight.narrow(0, 0, width).clone(),
                                     qk_v_->bias.defined() ? qk_v_->bias.narrow(0, 0, width).clone() : torch::Tensor());
  }
  return std::make_shared<FixedContextAttention>(
      FixedContextParts{query, proj_, function_, heads.k.contiguous(), heads.v.contiguous(), layout});
}

std::shared_ptr<Attention> MultiHeadAttention::freeze_cache() const {
  const auto frozen = std::make_shared<MultiHeadAttention>(*this);
  frozen->hold_memory();
  return frozen;
}

void MultiHeadAttention::hold_memory() {
  TORCH_CHECK(cache_, name(), ": has no cache to freeze");
  TORCH_CHECK(!cache_->is_training(),
              "multi_head_attention: a cache can be frozen only in evaluation; call eval() first");
  const at::NoGradGuard no_grad;
  Heads memory;
  project_memory(cache_->tokens.to(proj_->weight.scalar_type()), memory);
  const bool holds_step = cache_->holds_step();  // zeros mean that it does not
  const auto constant = [&](const char* as, const torch::Tensor& heads) {
    return register_buffer(as, holds_step ? heads.contiguous() : at::zeros_like(heads));
  };
  unregister_module("cache");
  cache_ = nullptr;
  memory_keys_ = constant("memory_keys", memory.k);
  memory_values_ = constant("memory_values", memory.v);
  memory_held_.set(memory_keys_, holds_step);
  eval();
}

}  // namespace cachet::nn
