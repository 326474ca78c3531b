#include <ATen/ops/ones.h>

#include <limits>
#include <string>
#include <vector>

#include "cachet/deploy/onnx/onnx_rules.h"

// Rules of arithmetic, comparisons, sums and norms. Arguments stand in the order of ATen's schemas.
namespace cachet::deploy {
namespace {

using Step = OnnxStep;
using Integers = std::vector<int64_t>;

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
  // Integers are divided towards zero as it is, which is the floor of those above it: positions and ids.
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
  TORCH_CHECK(s.real(2) == 1 && s.real(3) == 1, "onnx: ELU can be written only without scales");
  s.give(s.model.add("Elu", {s.tensor(0)}, {{"alpha", static_cast<float>(s.real(1))}}));
}

// Beyond the threshold ATen's is the input itself, which log(1 + eˣ) then is in float32 too.
void softplus(Step& s) {
  TORCH_CHECK(s.real(1) == 1 && s.real(2) >= 16, "onnx: softplus can be written only with the slope 1");
  s.give(s.model.add("Softplus", {s.tensor(0)}));
}

// Towards minus infinity, where the standard's division of whole numbers goes towards zero.
void floor_divide(Step& s) {
  const at::ScalarType dtype = s.result_dtype();
  const std::string x = s.tensor_as(0, dtype), divisor = s.scalar(1, dtype);
  const std::string quotient = s.model.add("Div", {x, divisor});
  if (c10::isFloatingType(dtype)) return s.give(s.model.add("Floor", {quotient}));
  TORCH_CHECK(s.real(1) > 0, "onnx: the divisor of whole numbers must be above 0");
  const std::string rest = s.model.add("Sub", {x, s.model.add("Mul", {quotient, divisor})});
  const std::string below = s.model.add("Less", {rest, s.model.scalar(0, dtype)});
  s.give(s.model.add("Sub", {quotient, s.cast(below, at::kBool, dtype)}));
}
void remainder(Step& s) {
  TORCH_CHECK(!c10::isFloatingType(s.result_dtype()), "onnx: remainders can be written only for whole numbers");
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
  TORCH_CHECK(!s.is_none(1), "onnx: argmax can be written only along a dimension");
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

}  // namespace

const OnnxRules& onnx_arithmetic() {
  static const OnnxRules rules{
      {"aten::add", add},
      {"aten::amax", largest},
      {"aten::any.dim", any},
      {"aten::argmax", place_of_largest},
      {"aten::bitwise_not", unary<kNot>},
      {"aten::clamp_min.default", clamp_min},
      {"aten::div", div},
      {"aten::elu", elu},
      {"aten::eq.Scalar", equal},
      {"aten::exp", unary<kExp>},
      {"aten::floor_divide.Scalar", floor_divide},
      {"aten::ge.Scalar", at_least},
      {"aten::gelu", gelu},
      {"aten::gt.Scalar", greater},
      {"aten::layer_norm", layer_norm},
      {"aten::le.Scalar", at_most},
      {"aten::logical_and", logical_and},
      {"aten::logical_not", logical_not},
      {"aten::logical_or", logical_or},
      {"aten::logsumexp", log_sum_exp},
      {"aten::lt.Scalar", less},
      {"aten::masked_fill.Scalar", masked_fill},
      {"aten::masked_fill_.Scalar", masked_fill_in_place},
      {"aten::mean.dim", mean},
      {"aten::mul", mul},
      {"aten::neg", unary<kNeg>},
      {"aten::relu", unary<kRelu>},
      {"aten::remainder.Scalar", remainder},
      {"aten::rms_norm", rms_norm},
      {"aten::rsqrt", rsqrt},
      {"aten::sigmoid", unary<kSigmoid>},
      {"aten::softmax.int", softmax},
      {"aten::softplus", softplus},
      {"aten::square", square},
      {"aten::sub", sub},
      {"aten::sub_", sub_in_place},
      {"aten::sum.dim_IntList", sum_over},
      {"aten::to", to},
      {"aten::where.ScalarOther", where_scalar},
  };
  return rules;
}

}  // namespace cachet::deploy
