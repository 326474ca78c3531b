#pragma once

namespace cachet {

/// Semantic version of the library, "major.minor.patch".
const char* version();

}  // namespace cachet
