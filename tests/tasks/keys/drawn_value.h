#pragma once

#include <random>
#include <string>

#include "tests/tasks/keys/known_key.h"

namespace cachet::test {

/// A value for a key as somebody might write it: mostly of its type, near a bound or far beyond, sometimes of another
/// type. TOML text on one line.
std::string drawn_value(const KnownKey& key, std::mt19937_64& random);

}  // namespace cachet::test
