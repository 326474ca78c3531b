#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/support/test_data.h"

namespace cachet::test {

/// Where the numbers to reproduce lie: $CACHET_ORACLES, else those of the repository.
inline std::filesystem::path oracle_folder() {
  const char* chosen = std::getenv("CACHET_ORACLES");
  return chosen ? chosen : test_data() + "/oracles";
}

}  // namespace cachet::test
