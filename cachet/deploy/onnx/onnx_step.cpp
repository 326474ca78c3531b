#include "cachet/deploy/onnx/onnx_step.h"

#include <ATen/ops/scalar_tensor.h>

#include <algorithm>

namespace cachet::deploy {

namespace jit = torch::jit;

std::string OnnxValues::name_of(jit::Value* value) {
  if (const auto known = names_.find(value); known != names_.end()) return known->second;
  const auto constant = jit::toIValue(value);
  TORCH_CHECK(constant, "onnx: '", value->node()->kind().toQualString(), "' has an output that cannot be written");
  std::string name;
  if (constant->isTensor())
    name = model_.constant(constant->toTensor());
  else if (constant->isInt())
    name = model_.constant(std::vector<int64_t>{constant->toInt()});
  else
    TORCH_CHECK(false, "onnx: expected a tensor, not a constant of type ", constant->tagKind());
  names_[value] = name;
  return name;
}

bool OnnxStep::is_none(size_t i) const {
  return i >= inputs() || node_.inputs()[i]->type()->kind() == c10::TypeKind::NoneType;
}

std::optional<c10::IValue> OnnxStep::constant(size_t i) const {
  const auto value = jit::toIValue(node_.inputs().at(i));
  return value ? std::optional<c10::IValue>(*value) : std::nullopt;
}

namespace {

c10::IValue required(const jit::Node& node, size_t i) {
  const auto value = jit::toIValue(node.inputs().at(i));
  TORCH_CHECK(value, "onnx: input ", i, " of '", node.kind().toQualString(), "' must be a constant, but is computed");
  return *value;
}

}  // namespace

int64_t OnnxStep::integer(size_t i) const { return required(node_, i).toInt(); }
bool OnnxStep::yes(size_t i) const { return required(node_, i).toBool(); }
double OnnxStep::real(size_t i) const { return required(node_, i).toScalar().toDouble(); }
std::string OnnxStep::text(size_t i) const { return required(node_, i).toStringRef(); }

std::vector<jit::Value*> OnnxStep::list(size_t i) const {
  jit::Node& maker = *node_.inputs().at(i)->node();
  TORCH_CHECK(maker.kind() == jit::prim::ListConstruct, "onnx: input ", i, " of '", node_.kind().toQualString(),
              "' must be a list");
  return maker.inputs().vec();
}

std::vector<int64_t> OnnxStep::integers(size_t i) const {
  if (const auto value = constant(i)) return value->toIntVector();
  std::vector<int64_t> all;
  for (const jit::Value* value : list(i)) {
    const auto number = jit::toIValue(value);
    TORCH_CHECK(number, "onnx: input ", i, " of '", node_.kind().toQualString(),
                "' must be a constant, but is computed");
    all.push_back(number->toInt());
  }
  return all;
}

std::string OnnxStep::sizes(size_t i) const {
  if (const auto value = constant(i)) return model.constant(value->toIntVector());
  const std::vector<jit::Value*> values = list(i);
  const bool known =
      std::ranges::all_of(values, [](const jit::Value* value) { return jit::toIValue(value).has_value(); });
  if (known) return model.constant(integers(i));
  std::vector<std::string> names;
  for (jit::Value* value : values) names.push_back(name_of(value));
  return model.add("Concat", names, {{"axis", int64_t{0}}});
}

at::ScalarType OnnxStep::dtype(size_t i) const {
  const auto type = node_.inputs().at(i)->type()->cast<c10::TensorType>();
  TORCH_CHECK(type && type->scalarType(), "onnx: the dtype of an input of '", node_.kind().toQualString(),
              "' is not known");
  return *type->scalarType();
}

at::ScalarType OnnxStep::result_dtype() const {
  const auto type = node_.outputs().at(0)->type()->cast<c10::TensorType>();
  TORCH_CHECK(type && type->scalarType(), "onnx: the dtype of the result of '", node_.kind().toQualString(),
              "' is not known");
  return *type->scalarType();
}

std::string OnnxStep::sizes_of(const std::string& tensor, int64_t first, int64_t end) const {
  return model.add("Shape", {tensor}, {{"start", first}, {"end", end}});
}

int64_t OnnxStep::rank(size_t i) const {
  const auto type = node_.inputs().at(i)->type()->cast<c10::TensorType>();
  TORCH_CHECK(type && type->dim(), "onnx: the dimensions of an input of '", node_.kind().toQualString(),
              "' are not known");
  return static_cast<int64_t>(*type->dim());
}

int64_t OnnxStep::result_rank() const {
  const auto type = node_.outputs().at(0)->type()->cast<c10::TensorType>();
  TORCH_CHECK(type && type->dim(), "onnx: the dimensions of the result of '", node_.kind().toQualString(),
              "' are not known");
  return static_cast<int64_t>(*type->dim());
}

int64_t OnnxStep::dimension(size_t i, size_t of) const {
  const int64_t given = integer(i);
  return given < 0 ? given + rank(of) : given;
}

int64_t OnnxStep::traced_size(size_t i, int64_t dimension) const {
  const auto type = node_.inputs().at(i)->type()->cast<c10::TensorType>();
  const auto sizes = type ? type->sizes().concrete_sizes() : std::nullopt;
  TORCH_CHECK(sizes, "onnx: the sizes of an input of '", node_.kind().toQualString(), "' are not known");
  return sizes->at(static_cast<size_t>(dimension));
}

std::string OnnxStep::cast(const std::string& value, at::ScalarType from, at::ScalarType to) const {
  return from == to ? value : model.add("Cast", {value}, {{"to", onnx_type(to)}});
}

// Not every whole number of 64 bits is one of a double.
std::string OnnxStep::scalar(size_t i, at::ScalarType dtype) const {
  jit::Value* given = node_.inputs().at(i);
  const bool is_computed = !jit::toIValue(given) && given->type()->kind() == c10::TypeKind::IntType;
  if (is_computed) return cast(name_of(given), at::kLong, dtype);
  const c10::Scalar number = required(node_, i).toScalar();
  const bool whole = number.isIntegral(/*includeBool=*/true);
  return model.constant(at::scalar_tensor(number, whole ? at::kLong : at::kDouble).to(dtype));
}

c10::ArrayRef<jit::Value*> OnnxStep::list_result() const {
  const auto& uses = node_.output()->uses();
  TORCH_CHECK(uses.size() == 1 && uses[0].user->kind() == jit::prim::ListUnpack, "onnx: the list of '",
              node_.kind().toQualString(), "' must be unpacked");
  return uses[0].user->outputs();
}

void OnnxStep::give_all(c10::ArrayRef<jit::Value*> values, const std::vector<std::string>& results) {
  TORCH_CHECK(results.size() == values.size(), "onnx: '", node_.kind().toQualString(), "' gives ", values.size(),
              " values, not ", results.size());
  for (size_t i = 0; i < results.size(); ++i) values_.set(values[i], results[i]);
}

void OnnxStep::give_parts(const std::vector<std::string>& results) { give_all(list_result(), results); }

void OnnxStep::give_in_place(const std::string& result) {
  values_.set(node_.inputs().at(0), result);
  give(result);
}

}  // namespace cachet::deploy
