#pragma once

#include <vector>

#include "cachet/config/document_state.h"

namespace cachet::config {

/// Returns a problem for every key and table that was written but not read. It has the nearest names that were read:
/// those of the same table, else full paths of keys in other tables. After the first hundred problems, only their
/// number is reported.
std::vector<Problem> unknown_keys(const Document::State& state);

}  // namespace cachet::config
