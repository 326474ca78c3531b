#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cachet/deploy/onnx/onnx_step.h"

// What each operator of ATen is in operators of the ONNX standard. Arguments stand in the order of ATen's schemas.
namespace cachet::deploy {
namespace {

namespace jit = torch::jit;

using Step = OnnxStep;
using Integers = std::vector<int64_t>;

void same(Step& s) { s.give(s.tensor(0)); }

// --- arithmetic ------------------------------------------------------------------------------------------------------

// The second operand: a tensor, a number of the graph or a constant one.
std::string second(const Step& s, at::ScalarType dtype) {
  const auto constant = s.constant(1);
  if (constant && !constant->isTensor()) return s.scalar(1, dtype);
  const bool tensor = s.node().inputs()[1]->type()->kind() == c10::TypeKind::TensorType;
  return tensor ? s.tensor_as(1, dtype) : s.cast(s.tensor(1), at::kLong, dtype);
}

bool of_numbers(const Step& s) { return s.node().output()->type()->kind() == c10::TypeKind::IntType; }

std::string arithmetic(const Step& s, const std::string& operation) {
  if (of_numbers(s)) return s.model.add(operation, {s.tensor(0), s.tensor(1)});
  const at::ScalarType dtype = s.result_dtype();
  return s.model.add(operation, {s.tensor_as(0, dtype), second(s, dtype)});
}

// a ± alpha·b
std::string sum(const Step& s, const std::string& operation) {
  const bool scaled = !of_numbers(s) && s.inputs() > 2 && s.real(2) != 1;
  if (!scaled) return arithmetic(s, operation);
  const at::ScalarType dtype = s.result_dtype();
  return s.model.add(operation, {s.tensor_as(0, dtype), s.model.add("Mul", {second(s, dtype), s.scalar(2, dtype)})});
}

void add(Step& s) { s.give(sum(s, "Add")); }
void sub(Step& s) { s.give(sum(s, "Sub")); }
void sub_in_place(Step& s) { s.give_in_place(sum(s, "Sub")); }
void mul(Step& s) { s.give(arithmetic(s, "Mul")); }

void div(Step& s) {
  const std::string quotient = arithmetic(s, "Div");
  const bool rounds = s.inputs() > 2 && !s.is_none(2);
  // Integers are divided towards zero as it is, which is the floor of those above it: places and ids.
  const bool integer = !of_numbers(s) && !c10::isFloatingType(s.result_dtype());
  s.give(rounds && !integer ? s.model.add(s.text(2) == "floor" ? "Floor" : "Trunc", {quotient}) : quotient);
}

template <const char* const& kOperation>
void unary(Step& s) {
  s.give(s.model.add(kOperation, {s.tensor(0)}));
}
constexpr const char *kExp = "Exp", *kRelu = "Relu", *kSigmoid = "Sigmoid", *kNot = "Not", *kNeg = "Neg";

void square(Step& s) { s.give(s.model.add("Mul", {s.tensor(0), s.tensor(0)})); }

void elu(Step& s) {
  TORCH_CHECK(s.real(2) == 1 && s.real(3) == 1, "onnx: a scaled ELU is not written");
  s.give(s.model.add("Elu", {s.tensor(0)}, {{"alpha", static_cast<float>(s.real(1))}}));
}

// Beyond the threshold ATen's is the input itself, which log(1 + eˣ) then is in float32 too.
void softplus(Step& s) {
  TORCH_CHECK(s.real(1) == 1 && s.real(2) >= 16, "onnx: a softplus of another slope is not written");
  s.give(s.model.add("Softplus", {s.tensor(0)}));
}

// Towards minus infinity, where the standard's division of whole numbers goes towards zero.
void floor_divide(Step& s) {
  const at::ScalarType dtype = s.result_dtype();
  const std::string x = s.tensor_as(0, dtype), divisor = s.scalar(1, dtype);
  const std::string quotient = s.model.add("Div", {x, divisor});
  if (c10::isFloatingType(dtype)) return s.give(s.model.add("Floor", {quotient}));
  TORCH_CHECK(s.real(1) > 0, "onnx: whole numbers are divided by what is above 0");
  const std::string rest = s.model.add("Sub", {x, s.model.add("Mul", {quotient, divisor})});
  const std::string below = s.model.add("Less", {rest, s.model.scalar(0, dtype)});
  s.give(s.model.add("Sub", {quotient, s.cast(below, at::kBool, dtype)}));
}
void remainder(Step& s) {
  TORCH_CHECK(!c10::isFloatingType(s.result_dtype()), "onnx: remainders are written of whole numbers");
  s.give(s.model.add("Mod", {s.tensor(0), s.scalar(1, s.dtype(0))}));
}

void logical_not(Step& s) { s.give(s.model.add("Not", {s.tensor_as(0, at::kBool)})); }
void rsqrt(Step& s) { s.give(s.model.add("Reciprocal", {s.model.add("Sqrt", {s.tensor(0)})})); }
void clamp_min(Step& s) { s.give(s.model.add("Max", {s.tensor(0), s.scalar(1, s.dtype(0))})); }
void gelu(Step& s) { s.give(s.model.add("Gelu", {s.tensor(0)}, {{"approximate", s.text(1)}})); }
void greater(Step& s) { s.give(s.model.add("Greater", {s.tensor(0), s.scalar(1, s.dtype(0))})); }
void less(Step& s) { s.give(s.model.add("Less", {s.tensor(0), s.scalar(1, s.dtype(0))})); }
void at_least(Step& s) { s.give(s.model.add("GreaterOrEqual", {s.tensor(0), s.scalar(1, s.dtype(0))})); }
void at_most(Step& s) { s.give(s.model.add("LessOrEqual", {s.tensor(0), s.scalar(1, s.dtype(0))})); }
void equal(Step& s) { s.give(s.model.add("Equal", {s.tensor(0), s.scalar(1, s.dtype(0))})); }
void logical_and(Step& s) { s.give(s.model.add("And", {s.tensor_as(0, at::kBool), s.tensor_as(1, at::kBool)})); }
void logical_or(Step& s) { s.give(s.model.add("Or", {s.tensor_as(0, at::kBool), s.tensor_as(1, at::kBool)})); }
void to(Step& s) { s.give(s.cast(s.tensor(0), s.dtype(0), s.result_dtype())); }

std::string masked(const Step& s) {
  return s.model.add("Where", {s.tensor_as(1, at::kBool), s.scalar(2, s.dtype(0)), s.tensor(0)});
}
void masked_fill(Step& s) { s.give(masked(s)); }
void masked_fill_in_place(Step& s) { s.give_in_place(masked(s)); }
void where_scalar(Step& s) {
  const at::ScalarType dtype = s.result_dtype();
  s.give(s.model.add("Where", {s.tensor_as(0, at::kBool), s.tensor_as(1, dtype), s.scalar(2, dtype)}));
}

// --- sums and norms --------------------------------------------------------------------------------------------------

void reduce(Step& s, const std::string& operation) {
  const at::ScalarType dtype = s.result_dtype();
  std::vector<std::string> inputs{s.tensor_as(0, dtype)};
  if (!s.is_none(1)) inputs.push_back(s.model.constant(s.integers(1)));
  s.give(s.model.add(operation, inputs, {{"keepdims", int64_t{s.yes(2)}}}));
}
void mean(Step& s) { reduce(s, "ReduceMean"); }
void sum_over(Step& s) { reduce(s, "ReduceSum"); }
void log_sum_exp(Step& s) { reduce(s, "ReduceLogSumExp"); }

void largest(Step& s) {
  std::vector<std::string> inputs{s.tensor(0)};
  if (const Integers axes = s.integers(1); !axes.empty()) inputs.push_back(s.model.constant(axes));
  s.give(s.model.add("ReduceMax", inputs, {{"keepdims", int64_t{s.yes(2)}}}));
}

void place_of_largest(Step& s) {
  TORCH_CHECK(!s.is_none(1), "onnx: the place of the largest is written along a dimension");
  s.give(s.model.add("ArgMax", {s.tensor(0)}, {{"axis", s.dimension(1, 0)}, {"keepdims", int64_t{s.yes(2)}}}));
}

void softmax(Step& s) {
  s.give(s.model.add("Softmax", {s.tensor_as(0, s.result_dtype())}, {{"axis", s.dimension(1, 0)}}));
}

void any(Step& s) {
  const std::string most =
      s.model.add("ReduceMax", {s.tensor_as(0, at::kInt), s.model.constant(Integers{s.integer(1)})},
                  {{"keepdims", int64_t{s.yes(2)}}});
  s.give(s.cast(most, at::kInt, at::kBool));
}

void layer_norm(Step& s) {
  const Integers shape = s.integers(1);
  const std::string scale = s.is_none(2) ? s.model.constant(at::ones(shape)) : s.tensor(2);
  std::vector<std::string> inputs{s.tensor(0), scale};
  if (!s.is_none(3)) inputs.push_back(s.tensor(3));
  s.give(s.model.add("LayerNormalization", inputs,
                     {{"axis", -static_cast<int64_t>(shape.size())}, {"epsilon", static_cast<float>(s.real(4))}}));
}

void rms_norm(Step& s) {
  const double eps = s.is_none(3) ? std::numeric_limits<float>::epsilon() : s.real(3);
  Integers axes;
  for (size_t i = s.integers(1).size(); i > 0; --i) axes.push_back(-static_cast<int64_t>(i));
  const std::string x = s.tensor(0);
  const std::string squares =
      s.model.add("ReduceMean", {s.model.add("Mul", {x, x}), s.model.constant(axes)}, {{"keepdims", int64_t{1}}});
  const std::string root = s.model.add("Sqrt", {s.model.add("Add", {squares, s.model.scalar(eps, at::kFloat)})});
  const std::string normed = s.model.add("Div", {x, root});
  s.give(s.is_none(2) ? normed : s.model.add("Mul", {normed, s.tensor(2)}));
}

// --- products --------------------------------------------------------------------------------------------------------

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
  TORCH_CHECK(!s.yes(5), "onnx: causal attention is not written: no classifier has it");
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

// A number for each dimension of a map, of which ATen takes one for all too.
Integers of_map(const Step& s, size_t i) {
  const Integers given = s.integers(i);
  return given.size() == 1 ? Integers(static_cast<size_t>(s.rank(0) - 2), given[0]) : given;
}

// input, weight, bias, stride, padding, dilation, transposed, output padding, groups
void convolution(Step& s) {
  TORCH_CHECK(!s.yes(6), "onnx: transposed convolutions are not written: no model here has one");
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

// --- shapes ----------------------------------------------------------------------------------------------------------

void reshape(Step& s) { s.give(s.model.add("Reshape", {s.tensor(0), s.sizes(1)}, {{"allowzero", int64_t{0}}})); }

// Sizes of `value` from dimension `first` up to `end`, (end − first).
std::string sizes_of(const Step& s, const std::string& value, int64_t first, int64_t end) {
  return s.model.add("Shape", {value}, {{"start", first}, {"end", end}});
}

// The sizes before a dimension, other ones in its place, those behind `end`.
void replace_sizes(Step& s, int64_t first, int64_t end, const std::string& sizes) {
  const std::string x = s.tensor(0);
  std::vector<std::string> parts;
  if (first > 0) parts.push_back(sizes_of(s, x, 0, first));
  parts.push_back(sizes);
  if (end < s.rank(0)) parts.push_back(sizes_of(s, x, end, s.rank(0)));
  const std::string shape = parts.size() == 1 ? sizes : s.model.add("Concat", parts, {{"axis", int64_t{0}}});
  s.give(s.model.add("Reshape", {x, shape}));
}

void flatten(Step& s) { replace_sizes(s, s.dimension(1, 0), s.dimension(2, 0) + 1, s.model.constant(Integers{-1})); }
void unflatten(Step& s) { replace_sizes(s, s.dimension(1, 0), s.dimension(1, 0) + 1, s.sizes(2)); }

// −1 keeps a size, as a 1 does in the standard's operator.
void expand(Step& s) {
  std::vector<std::string> parts;
  for (jit::Value* size : s.list(1)) {
    const auto known = jit::toIValue(size);
    parts.push_back(known && known->toInt() == -1 ? s.model.constant(Integers{1}) : s.name_of(size));
  }
  s.give(s.model.add("Expand", {s.tensor(0), s.model.add("Concat", parts, {{"axis", int64_t{0}}})}));
}

void expand_as(Step& s) { s.give(s.model.add("Expand", {s.tensor(0), s.model.add("Shape", {s.tensor(1)})})); }

void permute(Step& s) {
  Integers order = s.integers(1);
  for (int64_t& dimension : order) dimension += dimension < 0 ? s.rank(0) : 0;
  s.give(s.model.add("Transpose", {s.tensor(0)}, {{"perm", order}}));
}

void swap_dimensions(Step& s, int64_t one, int64_t other) {
  Integers order;
  for (int64_t i = 0; i < s.rank(0); ++i) order.push_back(i);
  std::swap(order.at(static_cast<size_t>(one)), order.at(static_cast<size_t>(other)));
  s.give(s.model.add("Transpose", {s.tensor(0)}, {{"perm", order}}));
}
void transpose(Step& s) { swap_dimensions(s, s.dimension(1, 0), s.dimension(2, 0)); }
void t(Step& s) { swap_dimensions(s, 0, s.rank(0) - 1); }

void squeeze(Step& s) { s.give(s.model.add("Squeeze", {s.tensor(0), s.model.constant(Integers{s.integer(1)})})); }
void unsqueeze(Step& s) { s.give(s.model.add("Unsqueeze", {s.tensor(0), s.model.constant(Integers{s.integer(1)})})); }
void repeat(Step& s) { s.give(s.model.add("Tile", {s.tensor(0), s.sizes(1)})); }
void size(Step& s) {
  const int64_t dimension = s.dimension(1, 0);
  s.give(sizes_of(s, s.tensor(0), dimension, dimension + 1));
}

void cat(Step& s) {
  std::vector<std::string> parts;
  for (jit::Value* part : s.list(0)) parts.push_back(s.name_of(part));
  s.give(s.model.add("Concat", parts, {{"axis", s.integer(1)}}));
}

void stack(Step& s) {
  const int64_t given = s.integer(1), axis = given < 0 ? given + s.result_rank() : given;
  std::vector<std::string> parts;
  for (jit::Value* part : s.list(0))
    parts.push_back(s.model.add("Unsqueeze", {s.name_of(part), s.model.constant(Integers{axis})}));
  s.give(s.model.add("Concat", parts, {{"axis", axis}}));
}

// Each several times, one after the other: laid side by side along a new dimension, which then goes into the one
// before.
void repeat_each(Step& s) {
  TORCH_CHECK(!s.is_none(2), "onnx: repeating is written along a dimension");
  const int64_t dimension = s.dimension(2, 0), rank = s.rank(0);
  Integers times(static_cast<size_t>(rank + 1), 1);
  times.at(static_cast<size_t>(dimension + 1)) = s.integer(1);
  const std::string x = s.tensor(0);
  const std::string beside = s.model.add("Unsqueeze", {x, s.model.constant(Integers{dimension + 1})});
  const std::string tiled = s.model.add("Tile", {beside, s.model.constant(times)});
  std::vector<std::string> sizes;
  if (dimension > 0) sizes.push_back(sizes_of(s, x, 0, dimension));
  sizes.push_back(s.model.constant(Integers{-1}));
  if (dimension + 1 < rank) sizes.push_back(sizes_of(s, x, dimension + 1, rank));
  s.give(s.model.add("Reshape", {tiled, s.model.add("Concat", sizes, {{"axis", int64_t{0}}})}));
}

// --- parts -----------------------------------------------------------------------------------------------------------

void unbind(Step& s) {
  const std::string x = s.tensor(0);
  std::vector<std::string> parts;
  for (size_t i = 0; i < s.parts(); ++i)
    parts.push_back(
        s.model.add("Gather", {x, s.model.scalar(static_cast<double>(i), at::kLong)}, {{"axis", s.integer(1)}}));
  s.give_parts(parts);
}

void chunk(Step& s) {
  const std::vector<OnnxAttribute> attributes{{"axis", s.integer(2)}, {"num_outputs", static_cast<int64_t>(s.parts())}};
  s.give_parts(s.model.add("Split", {s.tensor(0)}, attributes, s.parts()));
}

void select(Step& s) {
  s.give(s.model.add("Gather", {s.tensor(0), s.model.scalar(s.real(2), at::kLong)}, {{"axis", s.integer(1)}}));
}

// The first `length` of a dimension. OpenVINO passes a Slice by that stands before GatherElements: those are split off.
bool is_gathered_beginning(const Step& s, size_t start, size_t length) {
  const auto first = s.constant(start), count = s.constant(length);
  const auto& uses = s.node().output()->uses();
  return first && count && first->toInt() == 0 && count->toInt() > 0 &&
         std::ranges::any_of(uses, [](const jit::Use& use) { return use.user->kind() == jit::aten::gather; });
}

std::string beginning(const Step& s, int64_t dimension, int64_t length) {
  const int64_t rest = s.traced_size(0, dimension) - length;
  if (rest <= 0) return s.tensor(0);
  return s.model.add("Split", {s.tensor(0), s.model.constant(Integers{length, rest})}, {{"axis", dimension}}, 2)
      .front();
}

void narrow(Step& s) {
  if (is_gathered_beginning(s, 2, 3)) return s.give(beginning(s, s.dimension(1, 0), s.integer(3)));
  const std::string start = s.tensor(2), end = s.model.add("Add", {start, s.tensor(3)});
  s.give(s.model.add("Slice", {s.tensor(0), start, end, s.model.constant(Integers{s.integer(1)})}));
}

void slice(Step& s) {
  if (!s.is_none(2) && !s.is_none(3) && s.integer(4) == 1 && is_gathered_beginning(s, 2, 3) &&
      s.integer(3) <= s.traced_size(0, s.dimension(1, 0)))
    return s.give(beginning(s, s.dimension(1, 0), s.integer(3)));
  const std::string start = s.is_none(2) ? s.model.constant(Integers{0}) : s.tensor(2);
  const std::string end = s.is_none(3) ? s.model.constant(Integers{std::numeric_limits<int64_t>::max()}) : s.tensor(3);
  s.give(s.model.add("Slice", {s.tensor(0), start, end, s.model.constant(Integers{s.integer(1)}),
                               s.model.constant(Integers{s.integer(4)})}));
}

void gather(Step& s) { s.give(s.model.add("GatherElements", {s.tensor(0), s.tensor(2)}, {{"axis", s.integer(1)}})); }
void index_select(Step& s) { s.give(s.model.add("Gather", {s.tensor(0), s.tensor(2)}, {{"axis", s.integer(1)}})); }
void embedding(Step& s) { s.give(s.model.add("Gather", {s.tensor(0), s.tensor(1)}, {{"axis", int64_t{0}}})); }

// One index, or several of dimensions that follow each other: these become one dimension, of which rows are taken.
// Indices are not below 0.
void index(Step& s) {
  const std::vector<jit::Value*> indices = s.list(1);
  std::vector<int64_t> indexed;
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i]->type()->kind() != c10::TypeKind::NoneType) indexed.push_back(static_cast<int64_t>(i));
  TORCH_CHECK(!indexed.empty() && indexed.back() - indexed.front() + 1 == std::ssize(indexed),
              "onnx: indices are written of dimensions that follow each other");
  const std::string x = s.tensor(0);
  const int64_t first = indexed.front(), end = indexed.back() + 1, rank = s.rank(0);
  std::string place;
  for (const int64_t dimension : indexed) {
    jit::Value* value = indices[static_cast<size_t>(dimension)];
    const auto type = value->type()->cast<c10::TensorType>();
    TORCH_CHECK(type && type->scalarType() == at::kLong, "onnx: indices are written of whole numbers");
    const std::string own = s.name_of(value);
    if (place.empty()) {
      place = own;
      continue;
    }
    const std::string size = s.model.add("Squeeze", {sizes_of(s, x, dimension, dimension + 1)});
    place = s.model.add("Add", {s.model.add("Mul", {place, size}), own});
  }
  std::string rows = x;
  if (end - first > 1) {
    std::vector<std::string> sizes;
    if (first > 0) sizes.push_back(sizes_of(s, x, 0, first));
    sizes.push_back(s.model.constant(Integers{-1}));
    if (end < rank) sizes.push_back(sizes_of(s, x, end, rank));
    rows = s.model.add("Reshape", {x, s.model.add("Concat", sizes, {{"axis", int64_t{0}}})});
  }
  s.give(s.model.add("Gather", {rows, place}, {{"axis", first}}));
}

void scatter_in_place(Step& s) {
  s.give_in_place(
      s.model.add("ScatterElements", {s.tensor(0), s.tensor(2), s.tensor(3)}, {{"axis", s.dimension(1, 0)}}));
}

// ATen says (last before, last behind, …), the standard all before and all behind, of the dimensions that it names.
void pad(Step& s) {
  const auto both = s.list(1);
  std::vector<std::string> before, behind;
  Integers axes;
  for (size_t i = 0; i < both.size() / 2; ++i) {
    before.push_back(s.name_of(both[2 * i]));
    behind.push_back(s.name_of(both[2 * i + 1]));
    axes.push_back(s.rank(0) - 1 - static_cast<int64_t>(i));
  }
  before.insert(before.end(), behind.begin(), behind.end());
  s.give(s.model.add("Pad", {s.tensor(0), s.model.add("Concat", before, {{"axis", int64_t{0}}}),
                             s.scalar(2, s.dtype(0)), s.model.constant(axes)}));
}

// 0, 1, … up to a size (1), as a tensor (N).
std::string positions(const Step& s, const std::string& size) {
  return s.model.add("Range",
                     {s.model.scalar(0, at::kLong), s.model.add("Squeeze", {size}), s.model.scalar(1, at::kLong)});
}

// Not every engine keeps the order of equal ones, as the standard's operator should: whole numbers are made different
// by their places.
// `values` are input 0, or smaller ones in the same order.
std::string order_of(const Step& s, const std::string& values) {
  const int64_t dimension = s.dimension(2, 0);
  const bool descending = s.yes(3);
  TORCH_CHECK(!c10::isFloatingType(s.dtype(0)) && dimension == s.rank(0) - 1,
              "onnx: sorting is written of whole numbers along the last dimension");
  const std::string size = sizes_of(s, s.tensor(0), dimension, dimension + 1);
  const std::string scaled = s.model.add("Mul", {values, size});
  const std::string keys = s.model.add(descending ? "Sub" : "Add", {scaled, positions(s, size)});
  return s.model.add("TopK", {keys, size},
                     {{"axis", dimension}, {"largest", int64_t{descending}}, {"sorted", int64_t{1}}}, 2)[1];
}
void sort(Step& s) {
  const std::string order = order_of(s, s.tensor_as(0, at::kLong));
  s.give_all({s.model.add("GatherElements", {s.tensor(0), order}, {{"axis", s.dimension(2, 0)}}), order});
}
// Of numbers of buckets, of which there are 2^14 at most. The largest number of all marks padding, which comes last: it
// could not be multiplied, where engines compute in 32 bits.
void argsort(Step& s) {
  constexpr double kAboveBuckets = 1 << 15;
  s.give(order_of(s, s.model.add("Min", {s.tensor_as(0, at::kLong), s.model.scalar(kAboveBuckets, at::kLong)})));
}

// --- tensors of one number -------------------------------------------------------------------------------------------

void filled(Step& s, const std::string& sizes, double value) {
  s.give(s.model.add("Expand", {s.model.scalar(value, s.result_dtype()), sizes}));
}
void zeros(Step& s) { filled(s, s.sizes(0), 0); }
void ones(Step& s) { filled(s, s.sizes(0), 1); }
void full(Step& s) { filled(s, s.sizes(0), s.real(1)); }
void full_like(Step& s) { filled(s, s.model.add("Shape", {s.tensor(0)}), s.real(1)); }
void empty_like(Step& s) { filled(s, s.model.add("Shape", {s.tensor(0)}), 0); }
void fill_in_place(Step& s) {
  const std::string x = s.tensor(0);
  s.give_in_place(s.model.add("Expand", {s.scalar(1, s.dtype(0)), s.model.add("Shape", {x})}));
}

void arange(Step& s) { s.give(s.cast(positions(s, s.tensor(0)), at::kLong, s.result_dtype())); }

/// By the operator's name where a rule holds for all its overloads, else with that of the overload.
const std::map<std::string_view, OnnxRule> kRules{
    {"aten::_convolution", convolution},
    {"aten::adaptive_avg_pool2d", adaptive_average},
    {"aten::add", add},
    {"aten::alias", same},
    {"aten::amax", largest},
    {"aten::any.dim", any},
    {"aten::arange.default", arange},
    {"aten::argmax", place_of_largest},
    {"aten::argsort.stable", argsort},
    {"aten::bitwise_not", unary<kNot>},
    {"aten::cat", cat},
    {"aten::chunk", chunk},
    {"aten::clamp_min.default", clamp_min},
    {"aten::clone", same},
    {"aten::constant_pad_nd", pad},
    {"aten::contiguous", same},
    {"aten::detach", same},
    {"aten::div", div},
    {"aten::dropout", same},
    {"aten::elu", elu},
    {"aten::embedding", embedding},
    {"aten::empty_like", empty_like},
    {"aten::eq.Scalar", equal},
    {"aten::exp", unary<kExp>},
    {"aten::expand", expand},
    {"aten::expand_as", expand_as},
    {"aten::fill_", fill_in_place},
    {"aten::flatten", flatten},
    {"aten::floor_divide.Scalar", floor_divide},
    {"aten::full", full},
    {"aten::full_like", full_like},
    {"aten::gather", gather},
    {"aten::ge.Scalar", at_least},
    {"aten::gelu", gelu},
    {"aten::gt.Scalar", greater},
    {"aten::im2col", im2col},
    {"aten::index.Tensor", index},
    {"aten::index_select", index_select},
    {"aten::layer_norm", layer_norm},
    {"aten::le.Scalar", at_most},
    {"aten::linear", linear},
    {"aten::logical_and", logical_and},
    {"aten::logical_not", logical_not},
    {"aten::logical_or", logical_or},
    {"aten::logsumexp", log_sum_exp},
    {"aten::lt.Scalar", less},
    {"aten::masked_fill.Scalar", masked_fill},
    {"aten::masked_fill_.Scalar", masked_fill_in_place},
    {"aten::matmul", matmul},
    {"aten::mean.dim", mean},
    {"aten::mul", mul},
    {"aten::narrow", narrow},
    {"aten::neg", unary<kNeg>},
    {"aten::ones", ones},
    {"aten::permute", permute},
    {"aten::relu", unary<kRelu>},
    {"aten::remainder.Scalar", remainder},
    {"aten::repeat", repeat},
    {"aten::repeat_interleave.self_int", repeat_each},
    {"aten::reshape", reshape},
    {"aten::rms_norm", rms_norm},
    {"aten::rsqrt", rsqrt},
    {"aten::scaled_dot_product_attention", scaled_dot_product_attention},
    {"aten::scatter_.src", scatter_in_place},
    {"aten::select", select},
    {"aten::sigmoid", unary<kSigmoid>},
    {"aten::size.int", size},
    {"aten::slice", slice},
    {"aten::softmax.int", softmax},
    {"aten::softplus", softplus},
    {"aten::sort.stable", sort},
    {"aten::square", square},
    {"aten::squeeze.dim", squeeze},
    {"aten::stack", stack},
    {"aten::sub", sub},
    {"aten::sub_", sub_in_place},
    {"aten::sum.dim_IntList", sum_over},
    {"aten::t", t},
    {"aten::to", to},
    {"aten::transpose", transpose},
    {"aten::unbind", unbind},
    {"aten::unflatten", unflatten},
    {"aten::unsqueeze", unsqueeze},
    {"aten::view", reshape},
    {"aten::where.ScalarOther", where_scalar},
    {"aten::zeros", zeros},
};

}  // namespace

OnnxRule find_onnx_rule(const std::string& operation, const std::string& overload) {
  auto found = kRules.find(operation);
  if (found == kRules.end()) found = kRules.find(operation + "." + (overload.empty() ? "default" : overload));
  return found == kRules.end() ? nullptr : found->second;
}

}  // namespace cachet::deploy
