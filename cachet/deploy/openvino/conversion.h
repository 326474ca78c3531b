#pragma once

#include <memory>
#include <openvino/core/model.hpp>

#include "cachet/deploy/openvino/element_types.h"
#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// A portable model as OpenVINO's, its inputs by their names and in their order; the output is `scores`. Throws
/// CannotConvert that names the operators which OpenVINO does not know.
std::shared_ptr<ov::Model> convert_to_openvino(const PortableModel& portable);

}  // namespace cachet::deploy
