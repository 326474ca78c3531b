#pragma once

#include <filesystem>
#include <string>

#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// Writes a portable model for OpenVINO, weights as they are: model.xml and model.bin into the folder. Returns
/// "OpenVINO 2026.4.1". Throws c10::Error where this library was built without OpenVINO, or where it cannot convert.
std::string write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder);

}  // namespace cachet::deploy
