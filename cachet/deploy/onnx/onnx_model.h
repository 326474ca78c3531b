#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cachet/io/tensorboard/protobuf_message.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::deploy {

/// An attribute of an operator: its name and its value.
using OnnxAttribute = std::pair<std::string, std::variant<int64_t, float, std::string, std::vector<int64_t>>>;

/// A model in the Open Neural Network Exchange format (onnx.ai, operator set 20), built step by step. The values of the
/// graph are identified by their names.
class OnnxModel {
 public:
  static constexpr int64_t kOperatorSet = 20;

  void add_input(const runtime::ExportedInput& input);
  /// Adds a constant of any shape. Throws c10::Error unless its dtype is float32, int64, int32, uint8 or bool.
  std::string constant(const at::Tensor& tensor);
  std::string constant(const std::vector<int64_t>& numbers);  // (N)
  std::string scalar(double value, at::ScalarType dtype);     // ()
  /// Adds an operator of the ONNX standard and returns the name of its result. An input "" is an omitted input.
  std::string add(const std::string& operation, const std::vector<std::string>& inputs,
                  const std::vector<OnnxAttribute>& attributes = {});
  std::vector<std::string> add(const std::string& operation, const std::vector<std::string>& inputs,
                               const std::vector<OnnxAttribute>& attributes, size_t outputs);
  /// Sets the output: a value (batch, `classes`) of float32.
  void set_output(const std::string& value, const std::string& name, int64_t classes);

  /// Returns the bytes of the ONNX file. `properties`: the model's metadata, by name. Throws c10::Error if the file has
  /// 2 GiB or more, which the format does not allow.
  std::string serialized(const std::string& producer, const std::string& version,
                         const std::map<std::string, std::string>& properties = {}) const;

 private:
  std::string new_name() { return "v" + std::to_string(names_++); }

  io::ProtobufMessage graph_;
  int64_t names_ = 0;
};

/// Returns the number of a dtype in ONNX.
int64_t onnx_type(at::ScalarType dtype);

}  // namespace cachet::deploy
