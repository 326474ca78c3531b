#include "cachet/nn/attention/functions/relative_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "cachet/nn/attention/heads.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/attention/relative_attention_weights.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::nn {
namespace {

const SoftmaxOptions& softmax_of(const RelativeAttentionOptions& o) {
  const auto* softmax = std::get_if<SoftmaxOptions>(&o.attention.function);
  TORCH_CHECK(softmax, "relative_attention: scores for distances need softmax; choose kind = softmax");
  return *softmax;
}

}  // namespace

RelativeBiases RelativeBiases::make(int64_t num_heads, int64_t head_dim) {
  RelativeBiases biases{at::empty({num_heads, head_dim}), at::empty({num_heads, head_dim})};
  normal_(biases.content, 0.02);
  normal_(biases.position, 0.02);
  return biases;
}

int64_t RelativeAttention::head_dim(const RelativeAttentionOptions& o) {
  check_positive("relative_attention: dim", o.dim);
  check_positive("relative_attention: num_heads", o.num_heads);
  TORCH_CHECK(o.attention.head_dim >= 0, "relative_attention: head_dim must be at least 0, got ", o.attention.head_dim);
  if (o.attention.head_dim > 0) return o.attention.head_dim;
  TORCH_CHECK(o.dim % o.num_heads == 0, "relative_attention: num_heads must divide dim, but ", o.num_heads,
              " does not divide ", o.dim, "; set head_dim, the number of channels of each head");
  return o.dim / o.num_heads;
}

RelativeAttention::RelativeAttention(const RelativeAttentionOptions& o, const RelativeBiases& biases)
    : Cloneable("RelativeAttention"),
      dim_(o.dim),
      num_heads_(o.num_heads),
      head_dim_(head_dim(o)),
      dropout_(softmax_of(o).dropout),
      projection_dropout_(o.attention.projection_dropout) {
  check_dropout("relative_attention: dropout", dropout_);
  check_dropout("relative_attention: projection_dropout", projection_dropout_);
  const std::vector<int64_t> sizes{num_heads_, head_dim_};
  for (const torch::Tensor& bias : {biases.content, biases.position})
    TORCH_CHECK(bias.defined() && bias.sizes() == sizes, "relative_attention: biases must be (H, d) = (", num_heads_,
                ", ", head_dim_, "), got ", bias.defined() ? bias.sizes() : at::IntArrayRef());
  const int64_t inner = num_heads_ * head_dim_;
  qkv_ = register_module("qkv", std::make_shared<Linear>(dim_, 3 * inner, o.attention.qkv_bias));
  position_ = register_module("position", std::make_shared<Linear>(dim_, inner, /*with_bias=*/false));
  proj_ = register_module("proj", std::make_shared<Linear>(inner, dim_, o.attention.projection_bias));
  content_bias_ = register_parameter("content_bias", biases.content);
  position_bias_ = register_parameter("position_bias", biases.position);
}

std::shared_ptr<AttentionState> RelativeAttention::make_state(int64_t batch, SessionUse use) const {
  TORCH_CHECK(use != SessionUse::fixed_context,
              "relative_attention: relative attention is self-attention, which cannot have a fixed context");
  auto state = std::make_shared<AttentionState>(batch);
  if (use != SessionUse::decoding) return state;
  for (const char* name : {"keys", "values"})
    state->declare_growing(name, at::zeros({batch, num_heads_, 0, head_dim_}, proj_->options()), 2);
  return state;
}

torch::Tensor RelativeAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                        const RelativeLayout& layout) const {
  const torch::Tensor distances = layout.distances.unsqueeze(0);
  const torch::Tensor r = split_heads(position_->forward(distances), 1, num_heads_, head_dim_)[0];
  const auto scores = [&](const torch::Tensor& bias, const torch::Tensor& keys) {
    return at::matmul(q + bias.to(q.scalar_type()).unsqueeze(1), keys.transpose(2, 3));
  };
  std::optional<torch::Tensor> hidden;
  if (layout.hidden.defined()) hidden = layout.hidden;
  const torch::Tensor weights = ops::relative_attention_weights(scores(content_bias_, k), scores(position_bias_, r),
                                                                hidden, 1 / std::sqrt(static_cast<double>(head_dim_)));
  return at::matmul(ops::dropout(weights, dropout_, is_training()), v);
}

torch::Tensor RelativeAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                         const AttentionArgs& args) {
  check_tokens("relative_attention: query", query, dim_, args.query);
  check_tokens("relative_attention: context", context, dim_, args.context);
  TORCH_CHECK(context.size(0) == query.size(0) && context.size(1) >= query.size(1),
              "relative_attention: the query must be the last tokens of the context, but the query has sizes ",
              query.sizes(), " and the context has sizes ", context.sizes());
  TORCH_CHECK(!args.query.padding.defined() && !args.context.padding.defined() && !args.bias.defined(),
              "relative_attention: cannot use padding or an attention bias, because relative attention hides the same "
              "keys from all batch rows");
  const int64_t inner = num_heads_ * head_dim_;
  torch::Tensor q, k, v;
  if (query.is_same(context)) {
    const auto parts = split_heads(qkv_->forward(query), 3, num_heads_, head_dim_);
    q = parts[0], k = parts[1], v = parts[2];
  } else {
    q = split_heads(qkv_->forward_part(query, 0, inner), 1, num_heads_, head_dim_)[0];
    const auto parts = split_heads(qkv_->forward_part(context, inner, 2 * inner), 2, num_heads_, head_dim_);
    k = parts[0], v = parts[1];
  }
  if (args.state && args.state->declares("keys")) {
    k = args.state->append("keys", k);
    v = args.state->append("values", v);
  }
  TORCH_CHECK(args.relative.distances.defined() && args.relative.distances.dim() == 2 &&
                  args.relative.distances.size(0) == k.size(2) && args.relative.distances.size(1) == dim_,
              "relative_attention: args.relative.distances must be (", k.size(2), ", ", dim_, "), got ",
              args.relative.distances.defined() ? args.relative.distances.sizes() : at::IntArrayRef());
  const torch::Tensor mixed = attend(q, k, v, args.relative).transpose(1, 2);
  const torch::Tensor out = proj_->forward(mixed.reshape({query.size(0), query.size(1), inner}));
  return ops::dropout(out, projection_dropout_, is_training());
}

void RelativeAttention::fold_affine_before(const Affine& before) {
  TORCH_CHECK(before.scale.numel() == dim_, "relative_attention: an affine map to fold in must have ", dim_,
              " channels, got ", before.scale.numel());
  qkv_->fold_affine_before(before);
}

}  // namespace cachet::nn
