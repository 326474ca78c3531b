#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/tasks/keys/key_family.h"

namespace cachet::test {

/// A tiny recipe for a registered model, with the data of one of `families`, which has those of key_families() under
/// their names or longer ones. Nothing for a model that has no tiny recipe yet.
std::optional<KeyFamily> family_for(const std::string& model, const std::vector<KeyFamily>& families);

}  // namespace cachet::test
