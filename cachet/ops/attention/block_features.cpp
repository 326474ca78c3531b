#include "cachet/ops/attention/block_features.h"

#include <algorithm>

#include "cachet/kernels/feature_units.h"
#include "cachet/ops/attention/kernel_attention.h"

namespace cachet::ops {
namespace {

bool gated(int64_t unit) { return is_gated(static_cast<FeatureUnit>(unit)); }
bool has_product(int64_t unit) { return static_cast<FeatureUnit>(unit) != FeatureUnit::elu_plus_one; }
kernels::FeatureUnit kind(int64_t unit) { return static_cast<kernels::FeatureUnit>(unit); }

}  // namespace

int64_t features_of(int64_t width, at::TensorList weights, at::IntArrayRef units) {
  if (weights.empty()) return width;
  const int64_t columns = weights.back().size(2);
  return gated(units.back()) ? columns / 2 : columns;
}

BlockFeatures::BlockFeatures(const std::vector<at::Tensor>& weights, const std::vector<int64_t>& units, int64_t width,
                             int64_t block, int64_t features)
    : weights_(weights),
      units_(units),
      features_(features),
      block_(block),
      wide_(static_cast<size_t>(block * features)) {
  const auto rows = [&](int64_t columns) {
    numbers_.emplace_back(static_cast<size_t>(block * columns));
    return Matrix::dense(numbers_.back().data(), block, columns);
  };
  int64_t widest = width;
  inputs_.emplace_back();  // of the first layer input_
  size_t i = 0;
  for (const int64_t unit : units) {
    if (!has_product(unit)) continue;
    const int64_t columns = weights[i++].size(2);
    products_.push_back(rows(columns));
    d_products_.push_back(rows(columns));
    inputs_.push_back(rows(gated(unit) ? columns / 2 : columns));
    widest = std::max(widest, columns);
  }
  d_input_.resize(static_cast<size_t>(block * widest));
}

Matrix BlockFeatures::weight(size_t i) const {
  const at::Tensor& all = weights_[i];
  const int64_t rows = all.size(1), columns = all.size(2), head = all.size(0) == 1 ? 0 : head_;
  return Matrix::dense(const_cast<float*>(all.const_data_ptr<float>()) + head * rows * columns, rows, columns);
}

Matrix BlockFeatures::compute(const bool* padding) {
  const int64_t count = rows_.count;
  Matrix current = input_;
  if (units_.empty()) {
    if (count == block_) return input_;
    for (int64_t row = 0; row < count; ++row)
      std::copy_n(input_.data + row * input_.row_stride, features_, wide_.begin() + row * features_);
  }
  size_t product = 0;
  for (size_t layer = 0; layer < units_.size(); ++layer) {
    const int64_t unit = units_[layer];
    if (has_product(unit)) {
      const Matrix result = products_[product].block_of_rows(0, count);
      product_(result, current, weight(product++));
      current = result;
    }
    const bool last = layer + 1 == units_.size();
    const Matrix next = last ? Matrix::dense(wide_.data(), count, features_) : inputs_[product].block_of_rows(0, count);
    kernels::feature_unit(kind(unit), current.data, next.data, {count, next.columns, current.row_stride});
    current = next;
  }
  for (int64_t row = 0; row < block_; ++row)
    if (row >= count || (padding && padding[row])) std::fill_n(wide_.begin() + row * features_, features_, 0.0f);
  return Matrix::dense(wide_.data(), block_, features_);
}

void BlockFeatures::backward(const Matrix& d_features, const std::vector<Matrix>& d_weights, const Matrix& d_x) {
  const int64_t count = rows_.count;
  if (products_.empty()) {  // elu + 1 alone
    const Matrix dense = Matrix::dense(d_input_.data(), count, features_);
    kernels::feature_unit_backward(kind(units_[0]), input_.data, d_features.data, dense.data,
                                   {count, features_, input_.row_stride});
    for (int64_t row = 0; row < count; ++row)
      std::copy_n(dense.data + row * features_, features_, d_x.data + row * d_x.row_stride);
    return;
  }
  // Every unit has a product here: elu + 1 stands alone.
  const float* d_output = d_features.data;
  for (size_t i = products_.size(); i-- > 0;) {
    const Matrix product = products_[i].block_of_rows(0, count), d_product = d_products_[i].block_of_rows(0, count);
    const int64_t outputs = i + 1 == products_.size() ? features_ : inputs_[i + 1].columns;
    kernels::feature_unit_backward(kind(units_[i]), product.data, d_output, d_product.data,
                                   {count, outputs, product.row_stride});
    const Matrix input = i == 0 ? input_ : inputs_[i].block_of_rows(0, count);
    product_(d_weights[i], input.t(), d_product, /*add=*/true);
    product_(i == 0 ? d_x : Matrix::dense(d_input_.data(), count, input.columns), d_product, weight(i).t());
    d_output = d_input_.data();
  }
}

}  // namespace cachet::ops
