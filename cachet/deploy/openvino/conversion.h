#pragma once

#include <memory>
#include <openvino/core/model.hpp>

#include "cachet/deploy/openvino/element_types.h"
#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// Converts a portable model to an OpenVINO model. The inputs have the model's names and order, and the output is
/// `scores`. If OpenVINO does not know all operators, throws CannotConvert, which names the unknown operators.
std::shared_ptr<ov::Model> convert_to_openvino(const PortableModel& portable);

}  // namespace cachet::deploy
