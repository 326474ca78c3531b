#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "cachet/deploy/model_writers.h"
#include "cachet/deploy/portable_model.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

/// An OpenVINO model, converted from a portable model. An error of OpenVINO is thrown as CannotConvert.
class OpenVinoModel {
 public:
  virtual ~OpenVinoModel() = default;
  /// Returns a session that runs the model and records the inputs of its layers. Destroy the session before you call
  /// quantize().
  virtual std::unique_ptr<runtime::Session> calibration() = 0;
  /// Makes linear layers and convolutions compute in 8 bits, and returns the number of these layers. Throws c10::Error
  /// if no calibration was run before.
  virtual int64_t quantize() = 0;
  /// Writes FILE.xml and FILE.bin. `file` is the path of FILE.xml.
  virtual void save(const std::filesystem::path& file, const ModelMetadata& metadata, runtime::Precision precision) = 0;
};

/// The functions of the module cachet_deploy_openvino (runtime/openvino_module.h).
struct OpenVinoConverter {
  static constexpr const char* kModule = "cachet_deploy_openvino";

  const char* cachet_version;
  std::unique_ptr<OpenVinoModel> (*convert)(const PortableModel& portable);
};

}  // namespace cachet::deploy
