#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cachet/deploy/onnx/onnx_step.h"

namespace cachet::deploy {

/// Writes a step in operators of the standard.
using OnnxRule = void (*)(OnnxStep& step);

/// The rules of operators of ATen: by the operator's name if a rule holds for all its overloads, else with that of the
/// overload, "aten::any.dim".
using OnnxRules = std::map<std::string_view, OnnxRule>;

const OnnxRules& onnx_arithmetic();  // comparisons, sums and norms with it
const OnnxRules& onnx_products();    // attention and convolutions with them
const OnnxRules& onnx_shapes();
const OnnxRules& onnx_places();  // parts of tensors, their order, and what tensors are filled with

/// The rule of an operator ("aten::sum") and its overload ("dim_IntList"); null for one without a rule.
OnnxRule find_onnx_rule(const std::string& operation, const std::string& overload);

}  // namespace cachet::deploy
