#pragma once

#include <filesystem>
#include <memory>

#include "cachet/runtime/session.h"

namespace cachet::runtime {

/// Opens OpenVINO's model.xml with its model.bin, or an ONNX file, and compiles it for the CPU. The precision is
/// exactly the requested one, whereas OpenVINO's default is bfloat16 wherever a processor has it. If the model cannot
/// be opened or run, this function or the session throws EngineError.
std::unique_ptr<Session> open_openvino(const std::filesystem::path& model, const SessionOptions& options);

}  // namespace cachet::runtime
