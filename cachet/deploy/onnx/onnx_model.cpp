#include "cachet/deploy/onnx/onnx_model.h"

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <limits>
#include <string_view>

#include "cachet/deploy/classifier_inputs.h"

namespace cachet::deploy {
namespace {

using io::ProtobufMessage;

// Numbers of fields, from the format's onnx.proto.
namespace field {
enum Model { kIrVersion = 1, kProducer = 2, kProducerVersion = 3, kGraph = 7, kOperatorSets = 8, kProperties = 14 };
enum Property { kPropertyName = 1, kPropertyValue = 2 };
enum OperatorSet { kSetVersion = 2 };
enum Graph { kNode = 1, kGraphName = 2, kInitializer = 5, kInput = 11, kOutput = 12 };
enum Node { kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kOperation = 4, kAttribute = 5 };
enum Attribute { kAttributeName = 1, kFloat = 2, kInteger = 3, kText = 4, kIntegers = 8, kAttributeType = 20 };
enum Tensor { kSizes = 1, kDataType = 2, kTensorName = 8, kRawData = 9 };
enum ValueInfo { kValueName = 1, kType = 2 };
enum Type { kTensorType = 1, kElement = 1, kShape = 2, kDimension = 1, kSize = 1, kFreeSize = 2 };
}  // namespace field

constexpr int64_t kIrVersion = 9;  // that of operator set 20

ProtobufMessage attribute(const OnnxAttribute& given) {
  enum { kFloatType = 1, kIntegerType = 2, kTextType = 3, kIntegersType = 7 };
  ProtobufMessage message;
  message.bytes(field::kAttributeName, given.first);
  if (const auto* integer = std::get_if<int64_t>(&given.second))
    message.integer(field::kInteger, *integer).integer(field::kAttributeType, kIntegerType);
  if (const auto* real = std::get_if<float>(&given.second))
    message.real(field::kFloat, *real).integer(field::kAttributeType, kFloatType);
  if (const auto* text = std::get_if<std::string>(&given.second))
    message.bytes(field::kText, *text).integer(field::kAttributeType, kTextType);
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&given.second)) {
    for (const int64_t integer : *integers) message.integer(field::kIntegers, integer);
    message.integer(field::kAttributeType, kIntegersType);
  }
  return message;
}

// Sizes of −1 are free: one name for all batches, one for all lengths.
ProtobufMessage value_info(const std::string& name, at::ScalarType dtype, const std::vector<int64_t>& sizes) {
  ProtobufMessage shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ProtobufMessage dimension;
    if (sizes[i] >= 0)
      dimension.integer(field::kSize, sizes[i]);
    else
      dimension.bytes(field::kFreeSize, i == 0 ? "batch" : name.starts_with("second") ? "second_length" : "length");
    shape.message(field::kDimension, dimension);
  }
  const ProtobufMessage tensor =
      ProtobufMessage().integer(field::kElement, onnx_type(dtype)).message(field::kShape, shape);
  return ProtobufMessage()
      .bytes(field::kValueName, name)
      .message(field::kType, ProtobufMessage().message(field::kTensorType, tensor));
}

}  // namespace

int64_t onnx_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return 1;
    case at::kByte:
      return 2;
    case at::kInt:
      return 6;
    case at::kLong:
      return 7;
    case at::kBool:
      return 9;
    default:
      TORCH_CHECK(false, "onnx: the file cannot have numbers of type ", dtype);
  }
}

void OnnxModel::add_input(const runtime::ExportedInput& input) {
  graph_.message(field::kInput, value_info(input.name, dtype_of(input.element), input.shape));
}

std::string OnnxModel::constant(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().to(at::kCPU).contiguous();
  ProtobufMessage message;
  for (const int64_t size : dense.sizes()) message.integer(field::kSizes, size);
  std::string name = new_name();
  message.integer(field::kDataType, onnx_type(dense.scalar_type()))
      .bytes(field::kTensorName, name)
      .bytes(field::kRawData, std::string_view(static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()));
  graph_.message(field::kInitializer, message);
  return name;
}

std::string OnnxModel::constant(const std::vector<int64_t>& numbers) {
  return constant(at::tensor(numbers, at::kLong));
}

std::string OnnxModel::scalar(double value, at::ScalarType dtype) {
  return constant(at::scalar_tensor(value, at::kDouble).to(dtype));
}

std::string OnnxModel::add(const std::string& operation, const std::vector<std::string>& inputs,
                           const std::vector<OnnxAttribute>& attributes) {
  return add(operation, inputs, attributes, 1).front();
}

std::vector<std::string> OnnxModel::add(const std::string& operation, const std::vector<std::string>& inputs,
                                        const std::vector<OnnxAttribute>& attributes, size_t outputs) {
  ProtobufMessage node;
  std::vector<std::string> names;
  for (const std::string& input : inputs) node.bytes(field::kNodeInput, input);
  for (size_t i = 0; i < outputs; ++i) node.bytes(field::kNodeOutput, names.emplace_back(new_name()));
  node.bytes(field::kNodeName, operation + "_" + names.front()).bytes(field::kOperation, operation);
  for (const OnnxAttribute& given : attributes) node.message(field::kAttribute, attribute(given));
  graph_.message(field::kNode, node);
  return names;
}

void OnnxModel::set_output(const std::string& value, const std::string& name, int64_t classes) {
  graph_.message(field::kNode, ProtobufMessage()
                                   .bytes(field::kNodeInput, value)
                                   .bytes(field::kNodeOutput, name)
                                   .bytes(field::kNodeName, name)
                                   .bytes(field::kOperation, "Identity"));
  graph_.message(field::kOutput, value_info(name, at::kFloat, {-1, classes}));
}

std::string OnnxModel::serialized(const std::string& producer, const std::string& version,
                                  const std::map<std::string, std::string>& properties) const {
  ProtobufMessage graph = graph_;
  graph.bytes(field::kGraphName, "model");
  ProtobufMessage file;
  file.integer(field::kIrVersion, kIrVersion)
      .bytes(field::kProducer, producer)
      .bytes(field::kProducerVersion, version)
      .message(field::kGraph, graph)
      .message(field::kOperatorSets, ProtobufMessage().integer(field::kSetVersion, kOperatorSet));
  for (const auto& [name, value] : properties)
    file.message(field::kProperties,
                 ProtobufMessage().bytes(field::kPropertyName, name).bytes(field::kPropertyValue, value));
  std::string bytes = file.str();
  TORCH_CHECK(bytes.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()), "onnx: the model has ",
              bytes.size(), " bytes, but an ONNX file must be smaller than 2 GiB");
  return bytes;
}

}  // namespace cachet::deploy
