#include "cachet/ops/attention/kernel_attention_checks.h"

#include "cachet/ops/attention/attention_checks.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {

using at::Tensor;

FeatureUnit feature_unit_of(int64_t value) {
  TORCH_CHECK(value >= 0 && value <= static_cast<int64_t>(FeatureUnit::softplus_glu),
              "kernel_attention: unit must be 0 (elu + 1), 1 (softplus), 2 (gelu), 3 (sigmoid), 4 (glu) or 5 (softplus "
              "glu), got ",
              value);
  return static_cast<FeatureUnit>(value);
}

c10::SymInt check_feature_map(const char* op, const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  TORCH_CHECK(x.dim() == 4 && x.is_floating_point(), op, ": q and k must be floating (B, H, L, n), got ",
              x.scalar_type(), " ", x.sym_sizes());
  size_t products = 0;
  for (const int64_t unit : units) products += feature_unit_of(unit) != FeatureUnit::elu_plus_one;
  TORCH_CHECK(weights.size() == products, op, ": each unit except elu + 1 needs a weight; there are ", products,
              " such units, but the number of weights is ", weights.size());
  c10::SymInt width = x.sym_size(3);
  size_t i = 0;
  for (const int64_t value : units) {
    const FeatureUnit unit = feature_unit_of(value);
    if (unit == FeatureUnit::elu_plus_one) continue;
    const Tensor& w = weights[i];
    TORCH_CHECK(w.dim() == 3 && same_size_or_one(w.sym_size(0), x.sym_size(1)) && same_size(w.sym_size(1), width), op,
                ": weight ", i, " must be (H, n_in, n_out) with H = ", x.sym_size(1), " or 1 and n_in = ", width,
                ", got ", w.sym_sizes());
    TORCH_CHECK(w.scalar_type() == x.scalar_type(), op, ": weight ", i, " must have the dtype of q and k, ",
                x.scalar_type(), ", got ", w.scalar_type());
    TORCH_CHECK(!is_gated(unit) || divides(2, w.sym_size(2)), op, ": weight ", i,
                " of a gated unit must have an even number of columns, got ", w.sym_sizes());
    width = is_gated(unit) ? w.sym_size(2) / 2 : w.sym_size(2);
    ++i;
  }
  return width;
}

c10::SymInt check_kernel_attention(const KernelAttentionOperands& call) {
  const Tensor &q = call.q, &k = call.k, &v = call.v;
  const OptionalTensor& padding = call.padding;
  const auto features = check_feature_map("kernel_attention", q, call.weights, call.units);
  check_attention_operands("kernel_attention", 'n', q, k, v);
  check_same_device("kernel_attention", q, {{"k", k}, {"v", v}, {"padding", padding}});
  for (const Tensor& weight : call.weights) check_same_device("kernel_attention", q, {{"a weight", weight}});
  const bool fits = !padding || (padding->dim() == 2 && padding->scalar_type() == at::kBool &&
                                 same_size(padding->sym_size(1), k.sym_size(2)) &&
                                 same_size_or_one(padding->sym_size(0), q.sym_size(0)));
  TORCH_CHECK(fits, "kernel_attention: padding must be bool (B, Lk) = (", q.sym_size(0), ", ", k.sym_size(2), "), got ",
              padding->scalar_type(), " ", padding->sym_sizes());
  return features;
}

}  // namespace cachet::ops
