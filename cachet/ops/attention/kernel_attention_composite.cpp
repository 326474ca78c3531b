#include "cachet/ops/attention/kernel_attention_composite.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softplus.h>

#include "cachet/ops/attention/kernel_attention_checks.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

// Queries of a chunk meet its own keys one by one and all earlier ones through their sum.
constexpr int64_t kCausalChunk = 64;

Tensor apply_unit(const Tensor& product, FeatureUnit unit) {
  // ATen's softplus is linear above its threshold; at 40 that is exact in float64.
  const auto softplus = [](const Tensor& a) { return at::softplus(a, 1, 40); };
  const auto half = product.sym_size(3) / 2;
  switch (unit) {
    case FeatureUnit::elu_plus_one:
      return at::elu(product) + 1;
    case FeatureUnit::softplus:
      return softplus(product);
    case FeatureUnit::gelu:
      return at::gelu(product);
    case FeatureUnit::sigmoid:
      return product.sigmoid();
    case FeatureUnit::glu:
      return product.narrow_symint(3, 0, half) * product.narrow_symint(3, half, half).sigmoid();
    case FeatureUnit::softplus_glu:
      break;
  }
  return softplus(product.narrow_symint(3, 0, half)) * product.narrow_symint(3, half, half).sigmoid();
}

Tensor zero_rows(const Tensor& x, const OptionalTensor& padding) {
  return padding ? x.masked_fill(padding->unsqueeze(1).unsqueeze(3), 0) : x;
}

// Numerators and, in the last column, denominators of causal attention of equal lengths, in chunks.
Tensor causal_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& before) {
  const auto length = q.sym_size(2);
  // A program traced for any length would be one for a single chunk if it were traced on one: it takes one more.
  const auto chunks = chunks_of(length, kCausalChunk) + (length.is_symbolic() ? 1 : 0);
  const auto fill = chunks * kCausalChunk - length;
  const auto chunked = [&](const Tensor& x) {
    return at::constant_pad_nd_symint(x, {0, 0, 0, fill}).unflatten_symint(2, {chunks, kCausalChunk});
  };
  const Tensor qs = chunked(q), ks = chunked(k), vs = chunked(v);
  const Tensor own = at::matmul(ks.transpose(3, 4), vs);
  const Tensor earlier = own.cumsum(2) - own + before.unsqueeze(2);
  const Tensor inside = at::matmul(at::matmul(qs, ks.transpose(3, 4)).tril(), vs);
  return (at::matmul(qs, earlier) + inside).flatten(2, 3).narrow_symint(2, 0, length);
}

// Sums before the first key, to be broadcast: key_eps in the column of the denominators.
Tensor first_sums(const Tensor& like, double key_eps) {
  return at::constant_pad_nd_symint(at::full({1, 1}, key_eps, like.options()), {like.sym_size(3) - 1, 0});
}

}  // namespace

Tensor kernel_features_composite(const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  Tensor features = x;
  size_t i = 0;
  for (const int64_t value : units) {
    const FeatureUnit unit = feature_unit_of(value);
    features = apply_unit(unit == FeatureUnit::elu_plus_one ? features : at::matmul(features, weights[i++]), unit);
  }
  return features;
}

KernelAttendedComposite kernel_attention_composite(const KernelAttentionOperands& call, const OptionalTensor& before) {
  const Tensor &q = call.q, &k = call.k, &v = call.v;
  const auto wide = c10::promoteTypes(q.scalar_type(), at::kFloat);
  const Tensor fq = kernel_features_composite(q, call.weights, call.units).to(wide);
  const Tensor fk =
      zero_rows(kernel_features_composite(zero_rows(k, call.padding), call.weights, call.units), call.padding).to(wide);
  const Tensor values = zero_rows(v, call.padding).to(wide);
  // Padding gives values that all samples share a batch.
  const Tensor v1 =
      at::cat({values, at::ones_symint({values.sym_size(0), v.sym_size(1), v.sym_size(2), 1}, values.options())}, 3);
  const auto lq = q.sym_size(2), lk = k.sym_size(2), width = v.sym_size(3);
  // Keys that all queries see, then, if causal, a square of keys and queries.
  const auto seen_by_all = call.causal ? (lk - lq).max(0) : lk;
  const Tensor common =
      at::matmul(fk.narrow_symint(2, 0, seen_by_all).transpose(2, 3), v1.narrow_symint(2, 0, seen_by_all));
  Tensor sums = before ? before->to(wide) + common : common + first_sums(common, call.key_eps);

  Tensor totals;
  if (!call.causal) {
    totals = at::matmul(fq, sums);
  } else {
    const auto square = lk - seen_by_all, blind = lq - square;
    const Tensor ks = fk.narrow_symint(2, seen_by_all, square), vs = v1.narrow_symint(2, seen_by_all, square);
    totals = causal_sums(fq.narrow_symint(2, blind, square), ks, vs, sums);
    if (blind > 0) totals = at::cat({at::matmul(fq.narrow_symint(2, 0, blind), sums), totals}, 2);
    sums = sums + at::matmul(ks.transpose(2, 3), vs);
  }
  const Tensor divisor = totals.narrow_symint(3, width, 1) + call.eps;
  // Not at::where of the quotients: its gradient would be 0·∞ where nothing is seen.
  const Tensor empty = divisor <= 0;
  const Tensor y = totals.narrow_symint(3, 0, width) / divisor.masked_fill(empty, 1);
  return {y.masked_fill(empty, 0).to(q.scalar_type()), sums};
}

}  // namespace cachet::ops
