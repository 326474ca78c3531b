#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::analysis {

/// One product of an operator.
struct Product {
  int64_t macs = 0;
  std::vector<at::Tensor> weights;  // operands that may be parameters
  bool of_activations = false;      // whether it belongs to attention, unless another module owns one of `weights`
  bool of_function = false;         // whether it belongs to attention, with (joined) weights of an attention function
};

/// The arguments of an operator.
struct Operands {
  std::vector<at::Tensor> tensors;  // tensors in order, with lists unrolled; missing ones are undefined
  std::vector<int64_t> numbers;     // integers in order
  std::vector<bool> flags;          // truth values in order

  const at::Tensor& operator[](size_t i) const { return tensors[i]; }
  size_t size() const { return tensors.size(); }
};

/// A rule that counts the multiplications of an operator. Calls of other operators inside the operator are ignored.
struct OperatorRule {
  std::string_view name;  // "aten::linear"
  /// Returns the operator's products. `output` is the operator's first result.
  std::vector<Product> (*products)(const Operands& operands, const at::Tensor& output);
};

/// Returns all rules.
std::span<const OperatorRule> operator_rules();

/// Returns the rule that counts the multiplications of an operator, or null if the table has no rule for the operator.
const OperatorRule* find_operator_rule(std::string_view name);

}  // namespace cachet::analysis
