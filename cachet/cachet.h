#pragma once

/// The whole library: layers and models, training, and inference. If a program needs only layers, only training or only
/// inference, include only layers.h, training.h or inference.h to compile faster. Link the CMake target cachet::cachet.
/// The header cachet/command_line.h belongs to the target cachet::command_line.

#include "cachet/inference.h"
#include "cachet/layers.h"
#include "cachet/training.h"

namespace cachet {

/// Semantic version of the library, "major.minor.patch".
const char* version();

}  // namespace cachet
