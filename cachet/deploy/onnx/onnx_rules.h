#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cachet/deploy/onnx/onnx_step.h"

namespace cachet::deploy {

/// A function that converts one step of a graph to operators of the ONNX standard.
using OnnxRule = void (*)(OnnxStep& step);

/// The rules for ATen's operators. If a rule holds for all overloads of an operator, its key is the operator's name;
/// otherwise, its key includes the overload: "aten::any.dim".
using OnnxRules = std::map<std::string_view, OnnxRule>;

const OnnxRules& onnx_arithmetic();  // also comparisons, sums and norms
const OnnxRules& onnx_products();    // also attention and convolutions
const OnnxRules& onnx_shapes();
const OnnxRules& onnx_places();  // parts of tensors, their order, and fill values

/// Returns the rule of an operator ("aten::sum") and its overload ("dim_IntList"), or null if no rule exists.
OnnxRule find_onnx_rule(const std::string& operation, const std::string& overload);

}  // namespace cachet::deploy
