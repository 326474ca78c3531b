#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cachet/deploy/onnx/onnx_model.h"

namespace cachet::deploy {

/// Under which names a graph's values stand in an ONNX model. Whole numbers that the graph computes are tensors (1) of
/// int64 there.
class OnnxValues {
 public:
  explicit OnnxValues(OnnxModel& model) : model_(model) {}

  void set(const torch::jit::Value* value, std::string name) { names_[value] = std::move(name); }
  /// A tensor or a whole number; constants are written when they are first asked for.
  std::string name_of(torch::jit::Value* value);

 private:
  OnnxModel& model_;
  std::unordered_map<const torch::jit::Value*, std::string> names_;
};

/// One step of a graph on its way into an ONNX model: what it takes, and what it gives.
class OnnxStep {
 public:
  OnnxStep(OnnxModel& model, OnnxValues& values, torch::jit::Node& node) : model(model), values_(values), node_(node) {}

  OnnxModel& model;

  // The inputs of the step, by index.
  size_t inputs() const { return node_.inputs().size(); }
  bool is_none(size_t i) const;
  /// A tensor, or a whole number: (1).
  std::string tensor(size_t i) const { return values_.name_of(node_.inputs()[i]); }
  /// A constant; std::nullopt for what the graph computes.
  std::optional<c10::IValue> constant(size_t i) const;
  int64_t integer(size_t i) const;
  bool yes(size_t i) const;
  double real(size_t i) const;
  std::string text(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;
  /// Whole numbers, of which some may be computed: a tensor (N).
  std::string sizes(size_t i) const;
  /// The sizes of a tensor of the graph from dimension `first` up to `end`: (end − first).
  std::string sizes_of(const std::string& tensor, int64_t first, int64_t end) const;
  std::vector<torch::jit::Value*> list(size_t i) const;
  std::string name_of(torch::jit::Value* value) const { return values_.name_of(value); }

  // What is known of a tensor that it takes.
  at::ScalarType dtype(size_t i) const;
  int64_t rank(size_t i) const;
  /// From the front: −1 is the last one.
  int64_t dimension(size_t i, size_t of) const;
  /// Only if it does not depend on a free size: this is the size of the synthetic inputs.
  int64_t traced_size(size_t i, int64_t dimension) const;
  at::ScalarType result_dtype() const;
  int64_t result_rank() const;

  /// A tensor in another dtype, where that is another.
  std::string cast(const std::string& value, at::ScalarType from, at::ScalarType to) const;
  std::string tensor_as(size_t i, at::ScalarType dtype) const { return cast(tensor(i), this->dtype(i), dtype); }
  /// A number among the inputs as a constant of that dtype.
  std::string scalar(size_t i, at::ScalarType dtype) const;

  void give(const std::string& result) { values_.set(node_.output(), result); }
  void give_all(const std::vector<std::string>& results) { give_all(node_.outputs(), results); }
  /// Of an operator that gives a list, which is taken apart at once: how many parts it has.
  size_t parts() const { return list_result().size(); }
  void give_parts(const std::vector<std::string>& results);
  /// Of an operator that changes its first input: whoever reads that later reads the result.
  void give_in_place(const std::string& result);
  const torch::jit::Node& node() const { return node_; }

 private:
  c10::ArrayRef<torch::jit::Value*> list_result() const;
  void give_all(c10::ArrayRef<torch::jit::Value*> values, const std::vector<std::string>& results);

  OnnxValues& values_;
  torch::jit::Node& node_;
};

}  // namespace cachet::deploy
