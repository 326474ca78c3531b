#include "cachet/nn/attention/token_performer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>

#include "cachet/nn/attention/three_projections.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::nn {
namespace {

constexpr double kPerformerEps = 1e-8;

}  // namespace

TokenPerformer::TokenPerformer(const TokenPerformerOptions& o)
    : Cloneable("TokenPerformer"), token_dim_(o.token_dim), dropout_(o.dropout) {
  check_positive("token_performer: dim", o.dim);
  check_positive("token_performer: token_dim", o.token_dim);
  check_dropout("token_performer: dropout", o.dropout);
  TORCH_CHECK(o.feature_ratio > 0 && o.feature_ratio <= 1,
              "token_performer: feature_ratio must be above 0 and at most 1, got ", o.feature_ratio);
  const auto count = static_cast<int64_t>(static_cast<double>(o.token_dim) * o.feature_ratio);
  TORCH_CHECK(count >= 1 && count <= o.token_dim, "token_performer: feature_ratio ", o.feature_ratio, " of ",
              o.token_dim, " channels gives ", count, " features, but the number of features must be from 1 to ",
              o.token_dim);
  kqv_ = register_module("kqv", std::make_shared<Linear>(o.dim, 3 * token_dim_));
  proj_ = register_module("proj", std::make_shared<Linear>(token_dim_, token_dim_));
  torch::Tensor square = at::empty({token_dim_, token_dim_});
  orthogonal_(square);
  features_ = register_buffer("features", square.narrow(0, 0, count) * std::sqrt(static_cast<double>(count)));
}

// In float32 at least: an exponential of squares needs more than bfloat16's eight bits.
torch::Tensor TokenPerformer::feature_map(const torch::Tensor& x) const {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto dtype = c10::promoteTypes(x.scalar_type(), at::kFloat);
  const torch::Tensor wide = x.to(dtype);
  const torch::Tensor half_square = (wide * wide).sum(-1, /*keepdim=*/true) / 2;
  const double scale = 1 / std::sqrt(static_cast<double>(features_.size(0)));
  return (at::matmul(wide, features_.to(dtype).t()) - half_square).exp() * scale;
}

torch::Tensor TokenPerformer::forward(const torch::Tensor& query, const torch::Tensor& context,
                                      const AttentionArgs& args) {
  check_tokens("token_performer: query", query, kqv_->weight.size(1), args.query);
  check_tokens("token_performer: context", context, kqv_->weight.size(1), args.context);
  TORCH_CHECK(!args.causal && !args.state && !args.bias.defined(),
              "token_performer: cannot use a causal mask, a session state or an attention bias, because a token "
              "performer attends to all tokens at once");
  TORCH_CHECK(context.size(0) == query.size(0) || context.size(0) == 1,
              "token_performer: the batch of the context must be 1 or the batch of the query, ", query.size(0),
              ", got ", context.size(0));
  const bool to_itself = query.is_same(context);
  const auto [k, q, v] = three_projections(*kqv_, 1, query, context);
  torch::Tensor keys = feature_map(k);
  if (args.context.padding.defined()) keys = keys.masked_fill(args.context.padding.unsqueeze(-1), 0);
  const torch::Tensor queries = feature_map(q);
  const torch::Tensor sums = at::matmul(keys.transpose(1, 2), v.to(keys.scalar_type()));
  const torch::Tensor divisor = at::matmul(queries, keys.sum(1).unsqueeze(-1)) + kPerformerEps;
  const torch::Tensor mixed = (at::matmul(queries, sums) / divisor).to(v.scalar_type());
  const torch::Tensor out = ops::dropout(proj_->forward(mixed), dropout_, is_training());
  return zero_padding(to_itself ? v + out : out, args.query);
}

}  // namespace cachet::nn
