#pragma once

#include <filesystem>
#include <memory>

#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Opens OpenVINO's model.xml with its model.bin, or a file of ONNX, and compiles it for the CPU, in exactly the
/// requested precision: by default, OpenVINO uses bfloat16 wherever a processor has it. Opening and the
/// session's calls throw EngineError.
std::unique_ptr<Session> open_openvino(const std::filesystem::path& model, const SessionOptions& options);

}  // namespace cachet::runtime
