#pragma once

/// All of the library: layers and models, training, and inference. A program that needs one of these compiles faster
/// with its header alone. cachet/command_line.h has a library of its own. Link cachet::cachet.

#include "cachet/inference.h"
#include "cachet/layers.h"
#include "cachet/training.h"

namespace cachet {

/// Semantic version of the library, "major.minor.patch".
const char* version();

}  // namespace cachet
