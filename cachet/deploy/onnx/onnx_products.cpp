#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cachet/deploy/onnx/onnx_rules.h"

// Rules of products of matrices, attention, convolutions and means of parts. Arguments stand in the order of ATen's
// schemas.
namespace cachet::deploy {
namespace {

using Step = OnnxStep;
using Integers = std::vector<int64_t>;

void matmul(Step& s) { s.give(s.model.add("MatMul", {s.tensor(0), s.tensor(1)})); }

void linear(Step& s) {
  const auto weight = s.constant(1);
  const std::string columns = weight ? s.model.constant(weight->toTensor().t())
                                     : s.model.add("Transpose", {s.tensor(1)}, {{"perm", Integers{1, 0}}});
  const std::string product = s.model.add("MatMul", {s.tensor(0), columns});
  s.give(s.is_none(2) ? product : s.model.add("Add", {product, s.tensor(2)}));
}

// q, k, v, mask, dropout, causal, scale
void scaled_dot_product_attention(Step& s) {
  TORCH_CHECK(!s.yes(5), "onnx: causal attention cannot be written, because no classifier uses causal attention");
  const int64_t rank = s.rank(0);
  const double scale = s.is_none(6) ? 1 / std::sqrt(static_cast<double>(s.traced_size(0, rank - 1))) : s.real(6);
  Integers turned;
  for (int64_t i = 0; i < rank; ++i) turned.push_back(i);
  std::swap(turned[static_cast<size_t>(rank - 1)], turned[static_cast<size_t>(rank - 2)]);
  const std::string queries = s.model.add("Mul", {s.tensor(0), s.model.scalar(scale, at::kFloat)});
  std::string scores = s.model.add("MatMul", {queries, s.model.add("Transpose", {s.tensor(1)}, {{"perm", turned}})});
  if (!s.is_none(3)) {
    const float never = -std::numeric_limits<float>::infinity();
    scores = s.dtype(3) == at::kBool ? s.model.add("Where", {s.tensor(3), scores, s.model.scalar(never, at::kFloat)})
                                     : s.model.add("Add", {scores, s.tensor(3)});
  }
  s.give(s.model.add("MatMul", {s.model.add("Softmax", {scores}, {{"axis", int64_t{-1}}}), s.tensor(2)}));
}

// A number for each dimension of a map. ATen takes one for all, too.
Integers of_map(const Step& s, size_t i) {
  const Integers given = s.integers(i);
  return given.size() == 1 ? Integers(static_cast<size_t>(s.rank(0) - 2), given[0]) : given;
}

// input, weight, bias, stride, padding, dilation, transposed, output padding, groups
void convolution(Step& s) {
  TORCH_CHECK(!s.yes(6), "onnx: transposed convolutions cannot be written, because no model of Cachet has one");
  const Integers padding = of_map(s, 4);
  Integers pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  std::vector<std::string> inputs{s.tensor(0), s.tensor(1)};
  if (!s.is_none(2)) inputs.push_back(s.tensor(2));
  s.give(
      s.model.add("Conv", inputs,
                  {{"strides", of_map(s, 3)}, {"pads", pads}, {"dilations", of_map(s, 5)}, {"group", s.integer(8)}}));
}

// Columns of patches (B, C·k², L): a convolution whose kernels each let one number through.
void im2col(Step& s) {
  const Integers kernel = s.integers(1), dilation = s.integers(2), padding = s.integers(3), stride = s.integers(4);
  const int64_t channels = s.traced_size(0, 1), patch = kernel[0] * kernel[1];
  const at::Tensor one_each = at::eye(patch).view({patch, 1, kernel[0], kernel[1]}).repeat({channels, 1, 1, 1});
  const std::string map = s.model.add("Conv", {s.tensor(0), s.model.constant(one_each)},
                                      {{"strides", stride},
                                       {"pads", Integers{padding[0], padding[1], padding[0], padding[1]}},
                                       {"dilations", dilation},
                                       {"group", channels}});
  s.give(s.model.add("Reshape", {map, s.model.constant(Integers{0, channels * patch, -1})}));
}

// Means over parts of a line: (to, from).
at::Tensor means_of_parts(int64_t from, int64_t to) {
  const at::Tensor means = at::zeros({to, from});
  for (int64_t i = 0; i < to; ++i) {
    const int64_t first = i * from / to, end = ((i + 1) * from + to - 1) / to;
    means[i].narrow(0, first, end - first).fill_(1.0 / static_cast<double>(end - first));
  }
  return means;
}

// Rows and columns are averaged apart, each by a product.
void adaptive_average(Step& s) {
  const Integers size = s.integers(1);
  const at::Tensor rows = means_of_parts(s.traced_size(0, 2), size[0]),
                   columns = means_of_parts(s.traced_size(0, 3), size[1]);
  const std::string narrow = s.model.add("MatMul", {s.tensor(0), s.model.constant(columns.t())});
  s.give(s.model.add("MatMul", {s.model.constant(rows), narrow}));
}

}  // namespace

const OnnxRules& onnx_products() {
  static const OnnxRules rules{
      {"aten::_convolution", convolution},
      {"aten::adaptive_avg_pool2d", adaptive_average},
      {"aten::im2col", im2col},
      {"aten::linear", linear},
      {"aten::matmul", matmul},
      {"aten::scaled_dot_product_attention", scaled_dot_product_attention},
  };
  return rules;
}

}  // namespace cachet::deploy
