#include "cachet/ops/block_features.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <type_traits>

#include "cachet/kernels/feature_units.h"
#include "cachet/ops/fused.h"
#include "cachet/ops/kernel_attention.h"

namespace cachet::ops {
namespace {

using at::Tensor;

bool gated(int64_t unit) { return is_gated(static_cast<FeatureUnit>(unit)); }
bool has_product(int64_t unit) { return static_cast<FeatureUnit>(unit) != FeatureUnit::elu_plus_one; }
kernels::FeatureUnit kind(int64_t unit) { return static_cast<kernels::FeatureUnit>(unit); }

Matrix matrix(const Tensor& x) {
  return {static_cast<float*>(x.data_ptr()), x.size(0), x.size(1), x.stride(0), x.stride(1)};
}

}  // namespace

int64_t features_of(int64_t width, at::TensorList weights, at::IntArrayRef units) {
  if (weights.empty()) return width;
  const int64_t columns = weights.back().size(2);
  return gated(units.back()) ? columns / 2 : columns;
}

template <class T>
BlockFeatures<T>::BlockFeatures(const std::vector<Tensor>& weights, const std::vector<int64_t>& units,
                                const Tensor& like, int64_t block, int64_t features)
    : weights_(weights),
      units_(units),
      features_(features),
      wide_(static_cast<size_t>(block * features)),
      block_(block) {
  int64_t widest = std::max(like.size(3), features);
  inputs_.push_back(at::empty({block, like.size(3)}, like.options()));
  size_t i = 0;
  for (const int64_t unit : units) {
    if (!has_product(unit)) continue;
    const int64_t columns = weights[i++].size(2);
    products_.push_back(at::empty({block, columns}, like.options()));
    d_products_.push_back(at::empty({block, columns}, like.options()));
    inputs_.push_back(at::empty({block, gated(unit) ? columns / 2 : columns}, like.options()));
    widest = std::max(widest, columns);
  }
  d_input_ = at::empty({block * widest}, like.options());
}

template <class T>
Tensor BlockFeatures<T>::weight(size_t i) const {
  return weights_[i].select(0, weights_[i].size(0) == 1 ? 0 : head_);
}

template <class T>
void BlockFeatures<T>::multiply(const Tensor& out, const Tensor& a, const Tensor& b) {
  Tensor result = out;
  if constexpr (std::is_same_v<T, float>)
    product_(matrix(result), matrix(a), matrix(b));
  else
    at::mm_out(result, a, b);
}

template <class T>
void BlockFeatures<T>::add_product(const Tensor& sum, const Tensor& a, const Tensor& b) {
  if constexpr (std::is_same_v<T, float>)
    product_(matrix(sum), matrix(a), matrix(b), /*add=*/true);
  else
    sum.add_(at::mm(a, b));
}

template <class T>
Tensor BlockFeatures<T>::without_padding(const Tensor& x, const bool* padding) {
  Tensor kept = inputs_[0].narrow(0, 0, x.size(0));
  kept.copy_(x);
  for (int64_t row = 0; row < x.size(0); ++row)
    if (padding[row]) kept.select(0, row).zero_();
  return kept;
}

template <class T>
Matrix BlockFeatures<T>::compute(const Tensor& x, int64_t head, BlockRows rows, const bool* padding) {
  rows_ = rows;
  head_ = head;
  input_ = x.narrow(0, rows.first, rows.count);
  if (padding) input_ = without_padding(input_, padding);
  Tensor current = input_;
  if (units_.empty()) {
    const T* from = data<T>(input_);
    if constexpr (std::is_same_v<T, float>)
      if (rows.count == block_) return {const_cast<float*>(from), block_, features_, input_.stride(0), 1};
    for (int64_t row = 0; row < rows.count; ++row, from += input_.stride(0))
      std::transform(from, from + features_, wide_.begin() + row * features_, [](T x) { return kernels::to_float(x); });
  }
  size_t product = 0;
  for (size_t layer = 0; layer < units_.size(); ++layer) {
    const int64_t unit = units_[layer];
    if (has_product(unit)) {
      const Tensor result = products_[product].narrow(0, 0, rows.count);
      multiply(result, current, weight(product++));
      current = result;
    }
    if (layer + 1 == units_.size()) {
      kernels::feature_unit_wide(kind(unit), data<T>(current), wide_.data(),
                                 {rows.count, features_, current.stride(0)});
    } else {
      const Tensor next = inputs_[product].narrow(0, 0, rows.count);
      kernels::feature_unit(kind(unit), data<T>(current), mutable_data<T>(next),
                            {rows.count, next.size(1), current.stride(0)});
      current = next;
    }
  }
  for (int64_t row = 0; row < block_; ++row)
    if (row >= rows.count || (padding && padding[row])) std::fill_n(wide_.begin() + row * features_, features_, 0.0f);
  return Matrix::dense(wide_.data(), block_, features_);
}

template <class T>
void BlockFeatures<T>::backward(const float* d_features, const Tensor& d_x, const std::vector<Tensor>& d_weights) {
  const int64_t count = rows_.count;
  const Tensor target = d_x.narrow(0, rows_.first, count);
  const auto scratch = [&](int64_t columns) { return d_input_.narrow(0, 0, count * columns).view({count, columns}); };
  if (units_.empty()) {
    T* to = mutable_data<T>(target);
    for (int64_t row = 0; row < count; ++row, to += target.stride(0), d_features += features_)
      std::transform(d_features, d_features + features_, to, kernels::from_float<T>);
    return;
  }
  if (products_.empty()) {  // elu + 1 alone
    const Tensor dense = scratch(features_);
    kernels::feature_unit_backward_wide(kind(units_[0]), data<T>(input_), d_features, mutable_data<T>(dense),
                                        {count, features_, input_.stride(0)});
    target.copy_(dense);
    return;
  }
  // Every unit has a product here: elu + 1 stands alone.
  for (size_t i = products_.size(); i-- > 0;) {
    const Tensor product = products_[i].narrow(0, 0, count), d_product = d_products_[i].narrow(0, 0, count);
    if (i + 1 == products_.size())
      kernels::feature_unit_backward_wide(kind(units_[i]), data<T>(product), d_features, mutable_data<T>(d_product),
                                          {count, features_, product.stride(0)});
    else
      kernels::feature_unit_backward(kind(units_[i]), data<T>(product), data<T>(d_input_), mutable_data<T>(d_product),
                                     {count, inputs_[i + 1].size(1), product.stride(0)});
    const Tensor input = i == 0 ? input_ : inputs_[i].narrow(0, 0, count);
    add_product(d_weights[i], input.t(), d_product);
    multiply(i == 0 ? target : scratch(input.size(1)), d_product, weight(i).t());
  }
}

template class BlockFeatures<float>;
template class BlockFeatures<kernels::BFloat16>;

}  // namespace cachet::ops
