#pragma once

#include <openvino/runtime/core.hpp>
#include <string>

namespace cachet::runtime {

/// OpenVINO reads the list of its plug-ins once a process.
ov::Core& openvino_core();

/// What an error of OpenVINO says, without where in OpenVINO.
std::string reason(const ov::Exception& error);

}  // namespace cachet::runtime
