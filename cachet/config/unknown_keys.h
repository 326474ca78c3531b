#pragma once

#include <vector>

#include "cachet/config/document_state.h"

namespace cachet::config {

/// Returns a problem for every key and table that was written but not read. The problem has the nearest names that
/// were read: names of the same table, or else full paths of keys in other tables. After the first hundred
/// problems, only their number is reported.
std::vector<Problem> unknown_keys(const Document::State& state);

}  // namespace cachet::config
