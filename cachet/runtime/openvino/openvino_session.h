#pragma once

#include <filesystem>
#include <memory>

#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Opens OpenVINO's model.xml with the model.bin next to it, or a file of ONNX, and compiles it for the CPU, in the
/// precision that is asked for and no other: left alone, OpenVINO takes bfloat16 wherever a processor has it. The
/// session and its calls throw EngineError.
std::unique_ptr<Session> open_openvino(const std::filesystem::path& model, const SessionOptions& options);

}  // namespace cachet::runtime
