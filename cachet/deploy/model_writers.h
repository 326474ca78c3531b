#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/deploy/portable_model.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// A function that runs samples through a session. The session records the inputs of the model's layers.
using Calibrate = std::function<void(std::unique_ptr<runtime::Session> session)>;

struct WrittenModel {
  std::string made_by;             // "OpenVINO 2026.4.1"
  std::vector<std::string> notes;  // unexpected properties of the written model
};

/// The metadata in a model's file, by name, such as "model" and "classes".
using ModelMetadata = std::map<std::string, std::string>;
inline constexpr const char* kVersionOfMetadata = "cachet_version";

struct OpenVinoOptions {
  runtime::Precision precision = runtime::Precision::float32;  // precision that a program requests from OpenVINO
  Calibrate calibrate = {};
};

/// Writes a portable model for OpenVINO as the files model.xml and model.bin in `folder`. If `calibrate` is given,
/// linear layers and convolutions compute in 8 bits (openvino/quantization.h). Without `calibrate`, the weights do not
/// change. The metadata are in the model's runtime information under "cachet". The precision is in the runtime
/// information under "runtime_options", as INFERENCE_PRECISION_HINT. Throws c10::Error if OpenVINO cannot be used
/// (runtime/open_session.h), and CannotConvert if OpenVINO does not accept the model.
WrittenModel write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder,
                                const ModelMetadata& metadata, const OpenVinoOptions& options);

/// Writes the model as model.onnx, with the metadata as its properties. Throws CannotConvert if the model has operators
/// without an ONNX rule (onnx/onnx_rules.h).
WrittenModel write_for_onnx(const PortableModel& portable, const std::filesystem::path& folder,
                            const ModelMetadata& metadata);

}  // namespace cachet::deploy
