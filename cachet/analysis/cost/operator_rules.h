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
  std::vector<at::Tensor> weights;  // operands that may be a parameter
  bool of_activations = false;      // attention's, unless one of `weights` is a parameter of another module
  bool of_function = false;         // attention's, of an attention function's own weights, also if they were joined
};

/// What an operator was called with.
struct Operands {
  std::vector<at::Tensor> tensors;  // in their order, lists unrolled, those that were not given undefined
  std::vector<int64_t> numbers;     // its integers, in their order
  std::vector<bool> flags;          // its truth values, in their order

  const at::Tensor& operator[](size_t i) const { return tensors[i]; }
  size_t size() const { return tensors.size(); }
};

/// An operator that multiplies. What it calls inside is not looked at.
struct OperatorRule {
  std::string_view name;  // "aten::linear"
  /// output: its first result.
  std::vector<Product> (*products)(const Operands& operands, const at::Tensor& output);
};

/// All that there are.
std::span<const OperatorRule> operator_rules();

/// The rule of an operator, or null for one that does not multiply or is made of others.
const OperatorRule* find_operator_rule(std::string_view name);

}  // namespace cachet::analysis
