#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Returns the version of OpenVINO in this library ("2026.4.1"), or an empty text in a build without OpenVINO.
std::string openvino_version();

/// Opens the model of an exported folder with the engine of the export. The session compares its inputs with the
/// manifest (checked_session.h). Throws io::Error if the model needs LibTorch (tasks/exports opens such models), or if
/// it needs OpenVINO and this library was built without OpenVINO.
std::unique_ptr<Session> open_session(const std::filesystem::path& folder, const ExportManifest& manifest,
                                      const SessionOptions& options);

}  // namespace cachet::runtime
