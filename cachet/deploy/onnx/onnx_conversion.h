#pragma once

#include "cachet/deploy/onnx/onnx_model.h"
#include "cachet/deploy/portable_model.h"

namespace cachet::deploy {

/// Converts a portable model to operators of the ONNX standard. The inputs of the ONNX model have the names of the
/// portable model's inputs. The output is called `scores`. Throws c10::Error that names the operators without a
/// conversion.
OnnxModel convert_to_onnx(const PortableModel& portable);

}  // namespace cachet::deploy
