#pragma once

#include <openvino/runtime/core.hpp>
#include <span>
#include <string>

#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Returns this process's only ov::Core. With one ov::Core, OpenVINO reads the list of its plug-ins only once.
ov::Core& openvino_core();

ov::element::Type element_type(Element element);

/// Returns the text of an OpenVINO error in one line, without the position in OpenVINO's sources.
std::string reason(const ov::Exception& error);

/// Makes an inference request read its inputs from the caller's memory when it runs. Throws std::runtime_error for a
/// wrong number of inputs, and ov::Exception for inputs of wrong types or shapes.
void set_inputs(ov::InferRequest& request, std::span<const Input> inputs);

/// Returns the scores from a tensor (N, classes).
Scores scores_of(const ov::Tensor& output);

}  // namespace cachet::runtime
