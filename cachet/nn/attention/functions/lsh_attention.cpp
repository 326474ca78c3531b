#include "cachet/nn/attention/functions/lsh_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "cachet/ops/attention/block_attention.h"
#include "cachet/ops/tokens/permute_tokens.h"

namespace cachet::nn {
namespace {

constexpr double kUnitEps = 1e-6, kMinNorm = 1e-12;
constexpr int64_t kNoChunk = -1;
/// The bucket of padding, after all others. OpenVINO before 2026 computes whole numbers of 64 bits in 32, and converts
/// constants by way of float32: larger numbers become negative there.
constexpr int64_t kPaddingBucket = int64_t{1} << 24;
constexpr std::array<config::Choice<LshScore>, 2> kLshScores{{{"unit", LshScore::unit}, {"scaled", LshScore::scaled}}};

LshOptions read_lsh_attention(const config::View& table) {
  LshOptions o;
  o.chunk_size = table.integer("chunk_size", o.chunk_size, AttentionRanges::kBlockSize);
  o.buckets = table.integer("buckets", o.buckets, {2, 1 << 14});
  if (o.buckets % 2 != 0)
    table.problem("buckets", "must be even, because each direction of the hash also has its opposite, got " +
                                 std::to_string(o.buckets));
  o.rounds = table.integer("rounds", o.rounds, {1, 64});
  o.score = table.choice("score", o.score, kLshScores);
  o.pattern_length = read_pattern_length(table);
  return o;
}

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
  return (wide * squares.clamp_min(kMinNorm * kMinNorm).rsqrt()).to(k.scalar_type());
}

// The chunks of queries or of a context: `rounds` rows of `full` chunks each. The first `there` of a row are at hand.
struct Chunks {
  int64_t rounds, there, full;

  // Rounds that share chunks are one row.
  static Chunks of(const Sorted& side, const LshOptions& options, const TokenLayout& layout) {
    const auto count = [&](int64_t tokens) { return (tokens + options.chunk_size - 1) / options.chunk_size; };
    if (options.pattern_length == PatternLength::batch) {
      const int64_t all = count(side.rounds() * side.length());
      return {1, all, all};
    }
    return {side.rounds(), count(side.length()), count(pattern_tokens(options.pattern_length, layout, side.length()))};
  }
  int64_t all() const { return rounds * full; }
};

// The chunks of a context that each chunk of queries meets, (1, Nq, 2), of those at hand.
torch::Tensor met_chunks(const Chunks& queries, const Chunks& context, const torch::TensorOptions& options) {
  const int64_t query_chunks = queries.rounds * queries.there;
  if (context.all() == 0) return at::full({1, query_chunks, 2}, kNoChunk, options);
  const torch::Tensor row = at::arange(queries.rounds, options).unsqueeze(1) * queries.full;
  const torch::Tensor number = (row + at::arange(queries.there, options)).flatten();
  const torch::Tensor own = (number * context.all()).floor_divide(std::max<int64_t>(queries.all(), 1));
  const torch::Tensor before = context.all() > 1 ? (own + (context.all() - 1)).remainder(context.all())
                                                 : at::full_like(own, kNoChunk);  // the same chunk
  torch::Tensor met = at::stack({own, before}, 1).unsqueeze(0);
  if (context.there < context.full) {
    const torch::Tensor place = met.remainder(context.full);
    met = (met.floor_divide(context.full) * context.there + place).masked_fill(place.ge(context.there), kNoChunk);
  }
  return met;
}

// Rounds (…, rounds·L) or (…, rounds·L, n), each filled up to whole chunks along dimension 2.
torch::Tensor fill_chunks(const torch::Tensor& x, const Chunks& chunks, int64_t chunk_size, const at::Scalar& fill) {
  const int64_t rows = x.size(2) / chunks.rounds, missing = chunks.there * chunk_size - rows;
  if (chunks.rounds == 1 || missing == 0) return x;  // the last chunk may be shorter
  std::vector<int64_t> pad(static_cast<size_t>(2 * (x.dim() - 2)), 0);
  pad.back() = missing;
  return at::constant_pad_nd(x.unflatten(2, {chunks.rounds, rows}), pad, fill).flatten(2, 3);
}

// The rows that were there before.
torch::Tensor cut_filling(const torch::Tensor& x, const Chunks& chunks, int64_t rows) {
  if (x.size(2) == rows) return x;
  return x.unflatten(2, {chunks.rounds, x.size(2) / chunks.rounds}).narrow(3, 0, rows / chunks.rounds).flatten(2, 3);
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
  if (padding.defined()) keys = keys.masked_fill(padding.unsqueeze(1).unsqueeze(1), kPaddingBucket);
  return keys.argsort(/*stable=*/true, /*dim=*/3, /*descending=*/false);
}

torch::Tensor lsh_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& query_order, const torch::Tensor& key_order, const LshOptions& options,
                            const AttentionArgs& args) {
  const bool to_itself = q.is_same(k);
  const Sorted queries(query_order), keys = to_itself ? queries : Sorted(key_order);
  const Chunks query_chunks = Chunks::of(queries, options, args.query);
  const Chunks key_chunks = to_itself ? query_chunks : Chunks::of(keys, options, args.context);
  const auto filled = [&](const torch::Tensor& x, const Chunks& chunks, int64_t fill = 0) {
    return fill_chunks(x, chunks, options.chunk_size, fill);
  };
  const torch::Tensor sorted_q = filled(queries.sort(q), query_chunks);
  const torch::Tensor sorted_k = normalised(to_itself ? sorted_q : filled(keys.sort(k), key_chunks), options.score);

  ops::KeysSeen seen;
  seen.own_last = to_itself;
  const torch::Tensor sorted_v = filled(keys.sort(v), key_chunks);
  const bool is_filled = sorted_v.size(2) > keys.positions().size(2);
  if (to_itself || is_filled || args.context.padding.defined()) {
    torch::Tensor positions = keys.positions();
    if (args.context.padding.defined())
      positions = positions.masked_fill(keys.sort_flags(args.context.padding), ops::kSeenByNone);
    seen.query_positions = filled(queries.positions(), query_chunks);
    seen.key_positions = filled(positions, key_chunks, ops::kSeenByNone);
  }
  const double scale = options.score == LshScore::scaled ? 1 / std::sqrt(static_cast<double>(q.size(3))) : 1.0;
  const auto [mixed, sums] =
      ops::block_attention(sorted_q, sorted_k, sorted_v, met_chunks(query_chunks, key_chunks, query_order.options()),
                           options.chunk_size, scale, seen);
  const int64_t rows = queries.positions().size(2);
  const torch::Tensor y = queries.unsort(cut_filling(mixed, query_chunks, rows));
  if (queries.rounds() == 1) return y.squeeze(2);
  const torch::Tensor weights = queries.unsort_rows(cut_filling(sums, query_chunks, rows)).softmax(2).unsqueeze(-1);
  return (y * weights).sum(2).to(q.scalar_type());
}

constinit const AttentionFunctionKind<LshOptions> LshOptions::kKind{
    .name = "reformer",
    .read = read_lsh_attention,
    .make = [](const LshOptions& o, int64_t num_heads, int64_t head_dim) -> std::shared_ptr<AttentionFunction> {
      return std::make_shared<LshAttention>(o, num_heads, head_dim);
    },
    .traits = {.shares_query_and_key = true, .chooses_by_query = true},
    .exports = Export::traced,
    .why_not_causal = no_causal_form<LshOptions>};

LshAttention::LshAttention(const LshOptions& options, int64_t num_heads, int64_t head_dim)
    : Cloneable("LshAttention"), options_(options) {
  TORCH_CHECK(options.chunk_size >= 1, "lsh_attention: chunk_size must be at least 1, got ", options.chunk_size);
  TORCH_CHECK(options.buckets >= 2 && options.buckets % 2 == 0,
              "lsh_attention: buckets must be even, because each direction of the hash also has its opposite, got ",
              options.buckets);
  TORCH_CHECK(options.buckets <= kPaddingBucket, "lsh_attention: buckets must be at most ", kPaddingBucket, ", got ",
              options.buckets);
  TORCH_CHECK(options.rounds >= 1, "lsh_attention: rounds must be at least 1, got ", options.rounds);
  rotations_ = register_buffer("rotations", at::randn({num_heads, options.rounds, head_dim, options.buckets / 2}));
}

torch::Tensor LshAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                   const AttentionArgs& args) {
  refuse_bias("lsh_attention", args);
  refuse_causal("lsh_attention", args);
  const torch::Tensor rotations = is_training() ? at::randn(rotations_.sizes(), rotations_.options()) : rotations_;
  const bool to_itself = q.is_same(k);
  const torch::Tensor query_order = lsh_order(lsh_buckets(q, rotations), args.query.padding);
  const torch::Tensor key_order = to_itself ? query_order : lsh_order(lsh_buckets(k, rotations), args.context.padding);
  return lsh_attention(q, k, v, query_order, key_order, options_, args);
}

}  // namespace cachet::nn
