#pragma once

#include <openvino/runtime/core.hpp>
#include <span>
#include <string>

#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// OpenVINO reads the list of its plug-ins once a process.
ov::Core& openvino_core();

/// The text of an error of OpenVINO, in a line, without the position in OpenVINO's sources.
std::string reason(const ov::Exception& error);

/// Hands the caller's memory to a request, which reads it when it runs. Throws std::runtime_error for another number of
/// inputs than the model's, ov::Exception for inputs of other types or shapes.
void set_inputs(ov::InferRequest& request, std::span<const Input> inputs);

/// Of a tensor (N, classes).
Scores scores_of(const ov::Tensor& output);

}  // namespace cachet::runtime
