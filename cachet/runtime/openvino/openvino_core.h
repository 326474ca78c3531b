#pragma once

#include <openvino/runtime/core.hpp>
#include <span>
#include <string>

#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Returns the core of this process, so that OpenVINO reads the list of its plug-ins only once.
ov::Core& openvino_core();

/// Returns the text of an error of OpenVINO in one line, without the position in OpenVINO's sources.
std::string reason(const ov::Exception& error);

/// Passes the caller's memory to a request, which reads it when it runs. Throws std::runtime_error if the number of
/// inputs is not the model's, ov::Exception if inputs have other types or shapes.
void set_inputs(ov::InferRequest& request, std::span<const Input> inputs);

/// Returns the scores in a tensor (N, classes).
Scores scores_of(const ov::Tensor& output);

}  // namespace cachet::runtime
