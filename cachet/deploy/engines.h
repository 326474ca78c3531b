#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/deploy/portable_model.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// Runs samples through a session that watches them, so that the numbers which a model meets become known.
using Calibrate = std::function<void(std::unique_ptr<runtime::Session> session)>;

struct WrittenModel {
  std::string made_by;             // "OpenVINO 2026.4.1"
  std::vector<std::string> notes;  // what is not as one might expect
};

/// Writes a portable model for OpenVINO: model.xml and model.bin into the folder. With `calibrate` its linear layers
/// and convolutions multiply in 8 bits (openvino/quantization.h), else weights are as they are. Throws c10::Error where
/// this library was built without OpenVINO, or where it cannot convert.
WrittenModel write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder,
                                const Calibrate& calibrate = {});

/// The same as model.onnx. Throws c10::Error for a model with operators that are not written (onnx/onnx_rules.h).
WrittenModel write_for_onnx(const PortableModel& portable, const std::filesystem::path& folder);

}  // namespace cachet::deploy
