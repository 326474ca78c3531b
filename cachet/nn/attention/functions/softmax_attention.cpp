#include "cachet/nn/attention/functions/softmax_attention.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/attention/attention_weights.h"
#include "cachet/ops/attention/block_attention.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/processor.h"
#include "cachet/ops/support/wants_gradient.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::nn {
namespace {

// Which keys each query may see, as bool broadcastable to (B, H, Lq, Lk); undefined where all see all.
torch::Tensor visible_keys(const torch::Tensor& q, const torch::Tensor& k, const AttentionArgs& args) {
  torch::Tensor visible;
  if (args.context.padding.defined()) visible = args.context.padding.bitwise_not().unsqueeze(1).unsqueeze(1);
  // A single query at the end of its keys sees all of them.
  if (args.causal && q.size(2) > 1) {
    const int64_t lq = q.size(2), lk = k.size(2);
    const torch::Tensor earlier = at::ones({lq, lk}, q.options().dtype(at::kBool)).tril(lk - lq);
    visible = visible.defined() ? visible.bitwise_and(earlier) : earlier;
  }
  return visible;
}

// A bias of the samples' windows (W, H, Lq, Lk) for a batch of B·W.
torch::Tensor repeated(const torch::Tensor& bias, int64_t batch) {
  const int64_t rows = bias.dim() == 4 ? bias.size(0) : 1;
  return rows == 1 || rows == batch ? bias : bias.repeat({batch / rows, 1, 1, 1});
}

constexpr int64_t kBlock = 64;  // tokens whose scores lie in a core's nearest caches

// Blocks take less time than ATen's fused attention, which begins anew for each head, multiplies few channels slowly,
// and bfloat16 in tiles that only AMX makes fast. Of a few queries they do not: each key is turned for them.
bool blocks_are_faster(const torch::Tensor& q, const torch::Tensor& k, double dropout) {
  constexpr int64_t kLongest = 1024, kKeysOfAQuery = 4;
  if (!ops::tuned_for_cpu(q) || dropout > 0 || (q.scalar_type() == at::kBFloat16 && ops::has_amx())) return false;
  return k.size(2) <= kLongest && k.size(2) <= kKeysOfAQuery * q.size(2);
}

// The blocks of keys that each block of queries meets, (1, ⌈Lq/S⌉, ⌈Lk/S⌉): all, or those that a causal query may see.
torch::Tensor blocks_met(int64_t queries, int64_t keys, bool causal) {
  const int64_t rows = ops::chunks_of(queries, kBlock), columns = ops::chunks_of(keys, kBlock);
  torch::Tensor blocks = at::arange(columns, at::kLong).expand({1, rows, columns});
  if (!causal) return blocks;
  const torch::Tensor last_query = (at::arange(1, rows + 1, at::kLong) * kBlock).clamp_max(queries) - 1;
  return at::where(blocks * kBlock > (last_query + (keys - queries)).unsqueeze(1), at::Scalar(-1), blocks);
}

torch::Tensor attention_in_blocks(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                  const AttentionArgs& args) {
  const int64_t queries = q.size(2), keys = k.size(2);
  ops::KeysSeen seen;
  if (args.causal) {
    seen.most = 0;
    seen.query_positions = at::arange(keys - queries, keys, at::kLong).view({1, 1, queries});
  }
  if (args.context.padding.defined())
    seen.key_positions =
        at::where(args.context.padding, at::Scalar(ops::kSeenByNone), at::arange(keys, at::kLong)).unsqueeze(1);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  return ops::block_attention(q, k, v, blocks_met(queries, keys, args.causal), kBlock, scale, seen).output;
}

// Whether ATen's fused attention in bfloat16 takes longer than two products and a softmax. Its forward pass does where
// there is no AMX. Its backward pass does everywhere: it makes a product of oneDNN's anew for each tile, and that takes
// longer than the tile, however fast this is multiplied.
bool fuses_slowly_in_bfloat16(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
  return q.scalar_type() == at::kBFloat16 && (!ops::has_amx() || ops::wants_gradient(q, k, v));
}

// Few pairs take less time as two products and a softmax than in ATen's fused attention: in bfloat16 (blocks are of
// float32), and with a bias, of which ATen's takes one for each sample, and windows of an image share theirs. More
// pairs would need memory for all of them.
bool composes_faster(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                     const AttentionArgs& args) {
  constexpr int64_t kLongest = 512;
  if (args.causal || args.context.padding.defined() || !ops::tuned_for_cpu(q)) return false;
  if (k.size(2) > kLongest || q.size(2) * k.size(2) > kLongest * kLongest) return false;
  return args.bias.defined() || fuses_slowly_in_bfloat16(q, k, v);
}

torch::Tensor composed_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                 const std::optional<at::Tensor>& bias, double dropout) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  const torch::Tensor weights = ops::attention_weights(at::matmul(q, k.transpose(2, 3)), bias, scale);
  return at::matmul(ops::dropout(weights, dropout, /*training=*/true), v);
}

// Samples whose scores are about a megabyte, so that what is made of them on the way stays in a core's cache and little
// memory is taken; whole images, where windows of one share biases, and enough for all threads.
int64_t samples_at_once(const torch::Tensor& q, const torch::Tensor& k, const std::optional<at::Tensor>& bias) {
  constexpr int64_t kScores = int64_t{1} << 18;
  const int64_t heads = q.size(1), windows = bias ? bias->size(0) : 1;
  const int64_t fitting = kScores / std::max<int64_t>(1, heads * q.size(2) * k.size(2));
  const int64_t busy = ops::chunks_of(2 * at::get_num_threads(), std::max<int64_t>(1, heads));
  return ops::chunks_of(std::max<int64_t>({fitting, busy, 1}), windows) * windows;
}

// As composed_attention; without a gradient a part of the batch at a time, into memory in the order (B, Lq, H, d), from
// which the heads are joined without a copy.
torch::Tensor attention_by_parts(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                 const torch::Tensor& bias, double dropout) {
  std::optional<at::Tensor> added;
  if (bias.defined()) added = bias;
  while (added && added->dim() < 4) added = added->unsqueeze(0);
  const int64_t batch = q.size(0), part = samples_at_once(q, k, added);
  if (part >= batch || ops::wants_gradient(q, k, v, bias)) return composed_attention(q, k, v, added, dropout);
  torch::Tensor out = at::empty({batch, q.size(2), q.size(1), v.size(3)}, q.options()).transpose(1, 2);
  for (int64_t first = 0; first < batch; first += part) {
    const int64_t count = std::min(part, batch - first);
    const auto of = [&](const torch::Tensor& x) { return x.narrow(0, first, count); };
    of(out).copy_(composed_attention(of(q), of(k), of(v), added, dropout));
  }
  return out;
}

}  // namespace

torch::Tensor softmax_attention(const torch::Tensor& q, const torch::Tensor& keys, const torch::Tensor& values,
                                const AttentionArgs& args, double dropout) {
  // Only where it is needed: in a traced program it would be a copy of keys and values.
  const auto for_each_sample = [&](const torch::Tensor& x) {
    return x.size(0) == q.size(0) ? x : x.expand({q.size(0), -1, -1, -1});
  };
  const torch::Tensor k = for_each_sample(keys), v = for_each_sample(values);
  if (composes_faster(q, k, v, args)) return attention_by_parts(q, k, v, args.bias, dropout);
  if (!args.bias.defined() && blocks_are_faster(q, k, dropout)) return attention_in_blocks(q, k, v, args);
  // ATen aligns its causal mask to the first key, the args's to the last: the same only for a square.
  const bool square = args.causal && q.size(2) == k.size(2);
  const bool plain = !args.context.padding.defined() && !args.bias.defined();
  if (plain && (square || !args.causal)) return at::scaled_dot_product_attention(q, k, v, {}, dropout, square);

  const torch::Tensor visible = visible_keys(q, k, args);
  torch::Tensor mask = args.bias.defined() ? repeated(args.bias, q.size(0)).to(q.scalar_type()) : visible;
  if (args.bias.defined() && visible.defined())
    mask = at::where(visible, mask, at::Scalar(-std::numeric_limits<double>::infinity()));
  if (!mask.defined()) return at::scaled_dot_product_attention(q, k, v, {}, dropout);
  const torch::Tensor out = at::scaled_dot_product_attention(q, k, v, mask, dropout);
  if (!visible.defined()) return out;
  return at::where(visible.any(-1, /*keepdim=*/true), out, at::Scalar(0));
}

constinit const AttentionFunctionKind<SoftmaxOptions> SoftmaxOptions::kKind{
    .name = "softmax",
    .read =
        [](const config::View& table) {
          return SoftmaxOptions{table.real("dropout", SoftmaxOptions{}.dropout, AttentionRanges::kDropout)};
        },
    .make = [](const SoftmaxOptions& o, int64_t, int64_t) -> std::shared_ptr<AttentionFunction> {
      return std::make_shared<SoftmaxAttention>(o);
    },
    .traits = {.takes_bias = true},
    .exports = Export::traced};

SoftmaxAttention::SoftmaxAttention(const SoftmaxOptions& options) : Cloneable("SoftmaxAttention"), options_(options) {
  check_dropout("softmax_attention: dropout", options.dropout);
}

torch::Tensor SoftmaxAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                       const AttentionArgs& args) {
  return softmax_attention(q, k, v, args, is_training() ? options_.dropout : 0.0);
}

}  // namespace cachet::nn
