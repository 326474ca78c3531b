#pragma once

#include <memory>
#include <openvino/core/model.hpp>

#include "cachet/deploy/openvino/element_types.h"
#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// Converts a portable model to OpenVINO's, with its inputs by name and in order, and the output `scores`. Throws
/// CannotConvert that names the operators unknown to OpenVINO.
std::shared_ptr<ov::Model> convert_to_openvino(const PortableModel& portable);

}  // namespace cachet::deploy
