#include "cachet/ops/attention/softmax_attention.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cachet/ops/attention/attention_checks.h"
#include "cachet/ops/attention/attention_weights.h"
#include "cachet/ops/attention/block_attention.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/function_transform.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/processor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"
#include "cachet/ops/support/wants_gradient.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::ops {
namespace {

using at::Tensor;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

int64_t number(const c10::SymInt& size) { return size.guard_int(__FILE__, __LINE__); }

double score_scale(const Tensor& q) { return 1 / std::sqrt(static_cast<double>(number(q.sym_size(3)))); }

// Which keys each query may see, as bool broadcastable to (B, H, Lq, Lk); undefined where all see all.
Tensor visible_keys(const Tensor& q, const Tensor& k, const SoftmaxMask& mask) {
  Tensor visible;
  if (mask.padding.defined()) visible = mask.padding.bitwise_not().unsqueeze(1).unsqueeze(1);
  const auto queries = q.sym_size(2), keys = k.sym_size(2);
  // A single query at the end of its keys sees all of them.
  if (!mask.causal || is_size(queries, 1)) return visible;
  Tensor earlier;
  if (queries.is_symbolic() || keys.is_symbolic()) {
    const auto places = q.options().dtype(at::kLong);
    earlier = at::arange(keys, places).le((at::arange(queries, places) + (keys - queries)).unsqueeze(1));
  } else {
    const int64_t lq = number(queries), lk = number(keys);
    earlier = at::ones({lq, lk}, q.options().dtype(at::kBool)).tril(lk - lq);
  }
  return visible.defined() ? visible.bitwise_and(earlier) : earlier;
}

// A bias with four dimensions, or nothing.
OptionalTensor in_four_dimensions(const Tensor& bias) {
  if (!bias.defined()) return std::nullopt;
  Tensor whole = bias;
  while (whole.dim() < 4) whole = whole.unsqueeze(0);
  return whole;
}

// A bias of the samples' windows (W, H, Lq, Lk) for a batch of B·W.
Tensor repeated(const Tensor& bias, const c10::SymInt& batch) {
  const c10::SymInt rows = bias.dim() == 4 ? bias.sym_size(0) : c10::SymInt(1);
  return is_size(rows, 1) || is_size(rows - batch, 0) ? bias : bias.repeat_symint({batch / rows, 1, 1, 1});
}

constexpr int64_t kTokensOfABlock = 64;  // tokens whose scores lie in a core's nearest caches

// Whether blocks take less time than ATen's fused attention. ATen's form begins anew for each head, and is slow for few
// channels and for bfloat16 without AMX. Blocks are slower for a few queries, because they transpose every key.
bool blocks_are_faster(const Tensor& q, const Tensor& k, double dropout) {
  constexpr int64_t kLongest = 1024, kKeysOfAQuery = 4;
  if (!tuned_for_cpu(q) || dropout > 0 || (q.scalar_type() == at::kBFloat16 && has_amx())) return false;
  const int64_t queries = number(q.sym_size(2)), keys = number(k.sym_size(2));
  return keys <= kLongest && keys <= kKeysOfAQuery * queries;
}

// The blocks of keys that each block of queries meets, (1, ⌈Lq/S⌉, ⌈Lk/S⌉): all, or those that a causal query may see.
Tensor blocks_met(int64_t queries, int64_t keys, bool causal) {
  const int64_t rows = chunks_of(queries, kTokensOfABlock), columns = chunks_of(keys, kTokensOfABlock);
  Tensor blocks = at::arange(columns, at::kLong).expand({1, rows, columns});
  if (!causal) return blocks;
  const Tensor last_query = (at::arange(1, rows + 1, at::kLong) * kTokensOfABlock).clamp_max(queries) - 1;
  return at::where(blocks * kTokensOfABlock > (last_query + (keys - queries)).unsqueeze(1), at::Scalar(-1), blocks);
}

Tensor attention_in_blocks(const Tensor& q, const Tensor& k, const Tensor& v, const SoftmaxMask& mask) {
  const int64_t queries = number(q.sym_size(2)), keys = number(k.sym_size(2));
  KeysSeen seen;
  if (mask.causal) {
    seen.most = 0;
    seen.query_positions = at::arange(keys - queries, keys, at::kLong).view({1, 1, queries});
  }
  if (mask.padding.defined())
    seen.key_positions = at::where(mask.padding, at::Scalar(kSeenByNone), at::arange(keys, at::kLong)).unsqueeze(1);
  return block_attention(q, k, v, blocks_met(queries, keys, mask.causal), kTokensOfABlock, score_scale(q), seen).output;
}

// Whether ATen's fused attention in bfloat16 takes longer than two products and a softmax. Its forward pass does where
// there is no AMX. Its backward pass does everywhere: it makes a product of oneDNN's anew for each tile, and that takes
// longer than the tile, however fast this is multiplied.
bool fuses_slowly_in_bfloat16(const Tensor& q, const Tensor& k, const Tensor& v) {
  return q.scalar_type() == at::kBFloat16 && (!has_amx() || wants_gradient(q, k, v));
}

// Whether two products and a softmax take less time than ATen's fused attention. They do for few pairs in bfloat16 (the
// blocks are float32), and for few pairs with a bias: ATen needs a bias for each sample, but windows of an image share
// one. More pairs would need memory for all scores.
bool composes_faster(const Tensor& q, const Tensor& k, const Tensor& v, const SoftmaxMask& mask) {
  constexpr int64_t kLongest = 512;
  if (mask.causal || mask.padding.defined() || !tuned_for_cpu(q)) return false;
  const int64_t queries = number(q.sym_size(2)), keys = number(k.sym_size(2));
  if (keys > kLongest || queries * keys > kLongest * kLongest) return false;
  return mask.bias.defined() || fuses_slowly_in_bfloat16(q, k, v);
}

Tensor composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
                          double dropout) {
  const Tensor weights = attention_weights(at::matmul(q, k.transpose(2, 3)), bias, score_scale(q));
  return at::matmul(ops::dropout(weights, dropout, /*training=*/true), v);
}

// Samples whose scores are about a megabyte, so that what is made of them on the way stays in a core's cache and little
// memory is taken; whole images, where windows of one share biases, and enough for all threads.
int64_t samples_at_once(const Tensor& q, const Tensor& k, const OptionalTensor& bias) {
  constexpr int64_t kScores = int64_t{1} << 18;
  const int64_t heads = q.size(1), windows = bias ? bias->size(0) : 1;
  const int64_t fitting = kScores / std::max<int64_t>(1, heads * q.size(2) * k.size(2));
  const int64_t busy = chunks_of(2 * at::get_num_threads(), std::max<int64_t>(1, heads));
  return chunks_of(std::max<int64_t>({fitting, busy, 1}), windows) * windows;
}

// As composed_attention; without a gradient a part of the batch at a time, into memory in the order (B, Lq, H, d), from
// which the heads are joined without a copy.
Tensor attention_by_parts(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias, double dropout) {
  const OptionalTensor added = in_four_dimensions(bias);
  // A program that Python traces is for any batch.
  const bool traced = q.unsafeGetTensorImpl()->is_python_dispatch();
  if (traced || wants_gradient(q, k, v, bias)) return composed_attention(q, k, v, added, dropout);
  const int64_t batch = q.size(0), part = samples_at_once(q, k, added);
  if (part >= batch) return composed_attention(q, k, v, added, dropout);
  Tensor out = at::empty({batch, q.size(2), q.size(1), v.size(3)}, q.options()).transpose(1, 2);
  for (int64_t first = 0; first < batch; first += part) {
    const int64_t count = std::min(part, batch - first);
    const auto of = [&](const Tensor& x) { return x.narrow(0, first, count); };
    of(out).copy_(composed_attention(of(q), of(k), of(v), added, dropout));
  }
  return out;
}

// With derivatives of every kind, as transforms of torch.func ask for them.
Tensor differentiable_attention(const Tensor& q, const Tensor& k, const Tensor& v, const SoftmaxMask& mask,
                                double dropout) {
  const Tensor visible = visible_keys(q, k, mask);
  OptionalTensor bias = in_four_dimensions(mask.bias);
  if (visible.defined()) {
    const Tensor added = bias ? repeated(*bias, q.sym_size(0)) : at::zeros({}, q.options());
    bias = at::where(visible, added, at::Scalar(kHidden));
    bias = in_four_dimensions(*bias);
  }
  return composed_attention(q, k, v, bias, dropout);
}

// ATen's own, with a mask of what is hidden.
Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const SoftmaxMask& mask, double dropout) {
  // ATen aligns its causal mask to the first key, this one's is aligned to the last: the same only for a square.
  const bool square = mask.causal && is_size(q.sym_size(2) - k.sym_size(2), 0);
  const bool plain = !mask.padding.defined() && !mask.bias.defined();
  if (plain && (square || !mask.causal)) return at::scaled_dot_product_attention(q, k, v, {}, dropout, square);

  const Tensor visible = visible_keys(q, k, mask);
  Tensor addend = mask.bias.defined() ? repeated(mask.bias, q.sym_size(0)).to(q.scalar_type()) : visible;
  if (mask.bias.defined() && visible.defined()) addend = at::where(visible, addend, at::Scalar(kHidden));
  if (!addend.defined()) return at::scaled_dot_product_attention(q, k, v, {}, dropout);
  const Tensor out = at::scaled_dot_product_attention(q, k, v, addend, dropout);
  if (!visible.defined()) return out;
  return at::where(visible.any(-1, /*keepdim=*/true), out, at::Scalar(0));
}

void check_softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
                             const OptionalTensor& padding, double dropout) {
  constexpr const char* op = "softmax_attention";
  TORCH_CHECK(q.dim() == 4 && q.is_floating_point(), op, ": q must be floating (B, H, Lq, d), got ", q.scalar_type(),
              " ", q.sym_sizes());
  check_attention_operands(op, 'd', q, k, v);
  check_same_device(op, q, {{"k", k}, {"v", v}, {"bias", bias}, {"padding", padding}});
  const c10::SymDimVector scores{q.sym_size(0), q.sym_size(1), q.sym_size(2), k.sym_size(2)};
  if (padding)
    TORCH_CHECK(padding->scalar_type() == at::kBool && padding->dim() == 2 &&
                    same_size_or_one(padding->sym_size(0), scores[0]) && same_size(padding->sym_size(1), scores[3]),
                op, ": padding must be bool (B or 1, Lk) = (", scores[0], ", ", scores[3], "), got ",
                padding->scalar_type(), " ", padding->sym_sizes());
  if (bias) {
    const int64_t dims = bias->dim();
    bool fits = bias->is_floating_point() && dims <= 4;
    for (int64_t dim = 1; fits && dim <= std::min<int64_t>(dims, 3); ++dim)
      fits = same_size_or_one(bias->sym_size(-dim), scores[static_cast<size_t>(4 - dim)]);
    TORCH_CHECK(fits, op, ": bias must be floating (W, H, Lq, Lk), or 1 in place of the last three, for scores ",
                c10::SymIntArrayRef(scores), ", got ", bias->scalar_type(), " ", bias->sym_sizes());
    TORCH_CHECK(dims < 4 || divides(bias->sym_size(0), scores[0]), op, ": bias has ", bias->sym_size(0),
                " windows, but the number of windows must divide the batch of ", scores[0]);
  }
  TORCH_CHECK(dropout >= 0 && dropout <= 1, op, ": dropout must be in [0, 1], got ", dropout);
}

Tensor softmax_attention_form(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
                              const OptionalTensor& padding, bool causal, double dropout) {
  check_softmax_attention(q, k, v, bias, padding, dropout);
  return softmax_attention(q, k, v, {or_undefined(bias), or_undefined(padding), causal}, dropout);
}

Tensor call_softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& bias,
                              const OptionalTensor& padding, bool causal, double dropout) {
  static const auto op = operator_handle<decltype(softmax_attention_form)>("cachet::softmax_attention");
  return op.call(q, k, v, bias, padding, causal, dropout);
}

}  // namespace

Tensor softmax_attention(const Tensor& q, const Tensor& keys, const Tensor& values, const SoftmaxMask& mask,
                         double dropout) {
  // Only where it is needed: in a traced program it would be a copy of keys and values.
  const auto for_each_sample = [&](const Tensor& x) {
    const auto batch = q.sym_size(0);
    return is_size(x.sym_size(0) - batch, 0) ? x : x.expand_symint({batch, -1, -1, -1});
  };
  const Tensor k = for_each_sample(keys), v = for_each_sample(values);
  if (in_function_transform()) return differentiable_attention(q, k, v, mask, dropout);
  // What is faster depends on lengths. A program that is traced for any length takes ATen's form.
  if (!q.sym_size(2).is_symbolic() && !k.sym_size(2).is_symbolic()) {
    if (composes_faster(q, k, v, mask)) return attention_by_parts(q, k, v, mask.bias, dropout);
    if (!mask.bias.defined() && blocks_are_faster(q, k, dropout)) return attention_in_blocks(q, k, v, mask);
  }
  return fused_attention(q, k, v, mask, dropout);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "softmax_attention(Tensor q, Tensor k, Tensor v, Tensor? bias=None, Tensor? padding=None, "
           "bool causal=False, float dropout=0.0) -> Tensor")
      .differentiable_composite(softmax_attention_form)
      .autocast<call_softmax_attention, 0, 1, 2>();
}

}  // namespace cachet::ops
