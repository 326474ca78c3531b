#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Returns whether this library was built with OpenVINO. Loads nothing.
bool openvino_is_built_in();

/// Returns the version of OpenVINO ("2026.4.1"), or an empty text if OpenVINO cannot be used. The first call loads
/// OpenVINO.
std::string openvino_version();

/// Returns why OpenVINO cannot be used and what to do, in one line without a name before it, or an empty text if it can
/// be used. The first call loads OpenVINO.
std::string openvino_problem();

/// Opens the model of an exported folder with the engine of the export. The session compares its inputs with the
/// manifest (checked_session.h). Throws io::Error if the model needs LibTorch (tasks/exports opens such models), or if
/// it needs OpenVINO and OpenVINO cannot be used.
std::unique_ptr<Session> open_session(const std::filesystem::path& folder, const ExportManifest& manifest,
                                      const SessionOptions& options);

}  // namespace cachet::runtime
