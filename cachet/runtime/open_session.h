#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cachet/runtime/export_manifest.h"
#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// The OpenVINO that this library was built with: "2026.4.1"; empty where it has none.
std::string openvino_version();

/// Opens the model of an exported folder with the engine that it was exported for. The session compares what it is
/// given with the manifest (checked_session.h). Throws io::Error where that needs
/// LibTorch (tasks/exports opens those), or OpenVINO and this library has none.
std::unique_ptr<Session> open_session(const std::filesystem::path& folder, const ExportManifest& manifest,
                                      const SessionOptions& options);

}  // namespace cachet::runtime
