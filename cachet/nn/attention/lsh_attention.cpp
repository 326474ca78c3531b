#include "cachet/nn/attention/lsh_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cachet/ops/block_attention.h"
#include "cachet/ops/permute_tokens.h"

namespace cachet::nn {
namespace {

constexpr double kUnitEps = 1e-6, kLeastNorm = 1e-12;

/// Tokens of all rounds in the order of their buckets.
class Sorted {
 public:
  /// order (B, H, rounds, L)
  explicit Sorted(const torch::Tensor& order) : rounds_(order.size(2)), length_(order.size(3)) {
    const torch::Tensor round = at::arange(rounds_, order.options()).unsqueeze(1) * length_;
    positions_ = order.flatten(2);
    slots_ = (order + round).flatten(2);
    inverse_ =
        at::empty_like(slots_).scatter_(2, slots_, at::arange(rounds_ * length_, order.options()).expand_as(slots_));
  }

  int64_t rounds() const { return rounds_; }
  int64_t length() const { return length_; }
  const torch::Tensor& positions() const { return positions_; }  // (B, H, rounds·L)

  /// x (B, H, L, n) -> (B, H, rounds·L, n)
  torch::Tensor sort(const torch::Tensor& x) const {
    return permute(x.unsqueeze(2).expand({-1, -1, rounds_, -1, -1}).flatten(2, 3), slots_, inverse_);
  }
  /// y (B, H, rounds·L, n) -> (B, H, rounds, L, n)
  torch::Tensor unsort(const torch::Tensor& y) const {
    return permute(y, inverse_, slots_).unflatten(2, {rounds_, length_});
  }
  /// x (B, L) or (B, 1, L) by token -> (B, H, rounds·L)
  torch::Tensor sort_flags(const torch::Tensor& x) const {
    return x.unsqueeze(1).expand({-1, positions_.size(1), -1}).gather(2, positions_);
  }
  torch::Tensor unsort_rows(const torch::Tensor& y) const {
    return y.gather(2, inverse_).unflatten(2, {rounds_, length_});
  }

 private:
  // Rows of every head by one index over all of them: a row is copied whole.
  static torch::Tensor permute(const torch::Tensor& x, const torch::Tensor& index, const torch::Tensor& inverse) {
    const int64_t heads = x.size(0) * x.size(1), length = x.size(2);
    const torch::Tensor first = (at::arange(heads, index.options()) * length).view({x.size(0), x.size(1), 1});
    return ops::permute_tokens(x.reshape({1, heads * length, x.size(3)}), (index + first).flatten(),
                               (inverse + first).flatten())
        .view(x.sizes());
  }

  int64_t rounds_, length_;
  torch::Tensor positions_, slots_, inverse_;
};

// Keys as they are scored: of unit length, near enough.
torch::Tensor normalised(const torch::Tensor& k, LshScore score) {
  const torch::Tensor wide = k.to(c10::promoteTypes(k.scalar_type(), at::kFloat));
  const torch::Tensor squares = wide.square().sum(-1, /*keepdim=*/true);
  if (score == LshScore::unit)
    return (wide * (squares + static_cast<double>(k.size(3)) * kUnitEps).rsqrt()).to(k.scalar_type());
  return (wide * squares.clamp_min(kLeastNorm * kLeastNorm).rsqrt()).to(k.scalar_type());
}

// The chunks of a context that each chunk of queries meets, (1, Nq, 2).
torch::Tensor met_chunks(int64_t query_chunks, int64_t context_chunks, const torch::TensorOptions& options) {
  if (context_chunks == 0) return at::full({1, query_chunks, 2}, -1, options);
  const torch::Tensor own =
      (at::arange(query_chunks, options) * context_chunks).floor_divide(std::max<int64_t>(query_chunks, 1));
  const torch::Tensor before = context_chunks > 1 ? (own + (context_chunks - 1)).remainder(context_chunks)
                                                  : at::full_like(own, -1);  // the same chunk
  return at::stack({own, before}, 1).unsqueeze(0);
}

}  // namespace

torch::Tensor lsh_buckets(const torch::Tensor& x, const torch::Tensor& rotations) {
  const at::NoGradGuard no_grad;
  const auto dtype = c10::promoteTypes(x.scalar_type(), at::kFloat);
  const torch::Tensor rotated = at::matmul(x.to(dtype).unsqueeze(2), rotations.to(dtype));
  return at::cat({rotated, -rotated}, -1).argmax(-1);
}

torch::Tensor lsh_order(const torch::Tensor& buckets, const torch::Tensor& padding) {
  torch::Tensor keys = buckets;
  if (padding.defined())
    keys = keys.masked_fill(padding.unsqueeze(1).unsqueeze(1), std::numeric_limits<int64_t>::max());
  return keys.argsort(/*stable=*/true, /*dim=*/3, /*descending=*/false);
}

torch::Tensor lsh_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& query_order, const torch::Tensor& key_order, const LshOptions& options,
                            const AttentionLayout& layout) {
  const bool to_itself = q.is_same(k);
  const Sorted queries(query_order), keys = to_itself ? queries : Sorted(key_order);
  const torch::Tensor sorted_q = queries.sort(q);
  const torch::Tensor sorted_k = normalised(to_itself ? sorted_q : keys.sort(k), options.score);

  ops::KeysSeen seen;
  seen.own_last = to_itself;
  if (to_itself || layout.context.padding.defined()) {
    seen.query_positions = queries.positions();
    seen.key_positions = keys.positions();
    if (layout.context.padding.defined())
      seen.key_positions = seen.key_positions.masked_fill(keys.sort_flags(layout.context.padding), ops::kSeenByNone);
  }
  const auto chunks = [&](const Sorted& side) {
    return (side.rounds() * side.length() + options.chunk_size - 1) / options.chunk_size;
  };
  const double scale = options.score == LshScore::scaled ? 1 / std::sqrt(static_cast<double>(q.size(3))) : 1.0;
  const auto [mixed, sums] = ops::block_attention(sorted_q, sorted_k, keys.sort(v),
                                                  met_chunks(chunks(queries), chunks(keys), query_order.options()),
                                                  options.chunk_size, scale, seen);
  const torch::Tensor y = queries.unsort(mixed);
  if (queries.rounds() == 1) return y.squeeze(2);
  const torch::Tensor weights = queries.unsort_rows(sums).softmax(2).unsqueeze(-1);
  return (y * weights).sum(2).to(q.scalar_type());
}

LshAttention::LshAttention(const LshOptions& options, int64_t num_heads, int64_t head_dim)
    : Cloneable("LshAttention"), options_(options) {
  TORCH_CHECK(options.chunk_size >= 1, "lsh_attention: chunk_size must be at least 1, got ", options.chunk_size);
  TORCH_CHECK(options.buckets >= 2 && options.buckets % 2 == 0,
              "lsh_attention: buckets must be even, each direction of the hash has its opposite, got ",
              options.buckets);
  TORCH_CHECK(options.rounds >= 1, "lsh_attention: rounds must be at least 1, got ", options.rounds);
  rotations_ = register_buffer("rotations", at::randn({num_heads, options.rounds, head_dim, options.buckets / 2}));
}

torch::Tensor LshAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                   const AttentionLayout& layout) {
  refuse_bias("lsh_attention", layout);
  refuse_causal("lsh_attention", layout);
  const torch::Tensor rotations = is_training() ? at::randn(rotations_.sizes(), rotations_.options()) : rotations_;
  const bool to_itself = q.is_same(k);
  const torch::Tensor query_order = lsh_order(lsh_buckets(q, rotations), layout.query.padding);
  const torch::Tensor key_order =
      to_itself ? query_order : lsh_order(lsh_buckets(k, rotations), layout.context.padding);
  return lsh_attention(q, k, v, query_order, key_order, options_, layout);
}

}  // namespace cachet::nn
