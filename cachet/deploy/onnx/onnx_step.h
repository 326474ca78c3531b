#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cachet/deploy/onnx/onnx_model.h"

namespace cachet::deploy {

/// The names of a graph's values in an ONNX model. Integers that the graph computes become tensors (1) of int64 in the
/// ONNX model.
class OnnxValues {
 public:
  explicit OnnxValues(OnnxModel& model) : model_(model) {}

  void set(const torch::jit::Value* value, std::string name) { names_[value] = std::move(name); }
  /// Returns the name, in the ONNX model, of a value of the graph (a tensor or an integer). A constant is added to the
  /// model when its name is first requested.
  std::string name_of(torch::jit::Value* value);

 private:
  OnnxModel& model_;
  std::unordered_map<const torch::jit::Value*, std::string> names_;
};

/// One step of a graph, with its inputs and outputs, during conversion to an ONNX model.
class OnnxStep {
 public:
  OnnxStep(OnnxModel& model, OnnxValues& values, torch::jit::Node& node) : model(model), values_(values), node_(node) {}

  OnnxModel& model;

  // The inputs of the step. Functions with an argument `i` read the input with the index i.
  size_t inputs() const { return node_.inputs().size(); }
  bool is_none(size_t i) const;
  /// Returns the name of the tensor of input `i`; an integer input becomes a tensor of shape (1).
  std::string tensor(size_t i) const { return values_.name_of(node_.inputs()[i]); }
  /// If the input is a constant, returns its value; if the graph computes the input, returns std::nullopt.
  std::optional<c10::IValue> constant(size_t i) const;
  int64_t integer(size_t i) const;
  bool yes(size_t i) const;
  double real(size_t i) const;
  std::string text(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;
  /// Returns input `i`, a list of integers, as a tensor (N). The list may contain integers that the graph computes.
  std::string sizes(size_t i) const;
  /// Returns the sizes of a tensor of the graph from dimension `first` to `end` − 1, as a tensor (end − first).
  std::string sizes_of(const std::string& tensor, int64_t first, int64_t end) const;
  std::vector<torch::jit::Value*> list(size_t i) const;
  std::string name_of(torch::jit::Value* value) const { return values_.name_of(value); }

  // Known properties of an input tensor.
  at::ScalarType dtype(size_t i) const;
  int64_t rank(size_t i) const;
  /// Returns the value of input `i`, which is the index of a dimension of input `of`. A negative index is converted to
  /// an index from the front: −1 gives the index of the last dimension.
  int64_t dimension(size_t i, size_t of) const;
  /// Returns the size that dimension `dimension` of input `i` had during the trace, with synthetic inputs. If the
  /// returned size depends on a free size of the export (such as the batch size), it may differ for other inputs.
  int64_t traced_size(size_t i, int64_t dimension) const;
  at::ScalarType result_dtype() const;
  int64_t result_rank() const;

  /// Converts a tensor to dtype `to`. If `from` and `to` are the same dtype, returns `value`.
  std::string cast(const std::string& value, at::ScalarType from, at::ScalarType to) const;
  std::string tensor_as(size_t i, at::ScalarType dtype) const { return cast(tensor(i), this->dtype(i), dtype); }
  /// Returns input `i`, which is a number, as a constant of type `dtype`.
  std::string scalar(size_t i, at::ScalarType dtype) const;

  void give(const std::string& result) { values_.set(node_.output(), result); }
  void give_all(const std::vector<std::string>& results) { give_all(node_.outputs(), results); }
  /// Returns the length of the list that the operator returns. The list must have prim::ListUnpack as its only use.
  size_t parts() const { return list_result().size(); }
  void give_parts(const std::vector<std::string>& results);
  /// Sets the result of an operator that works in place. Later operators that would read this operator's first input
  /// then read `result`.
  void give_in_place(const std::string& result);
  const torch::jit::Node& node() const { return node_; }

 private:
  c10::ArrayRef<torch::jit::Value*> list_result() const;
  void give_all(c10::ArrayRef<torch::jit::Value*> values, const std::vector<std::string>& results);

  OnnxValues& values_;
  torch::jit::Node& node_;
};

}  // namespace cachet::deploy
