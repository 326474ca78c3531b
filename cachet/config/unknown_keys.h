#pragma once

#include <vector>

#include "cachet/config/document_state.h"

namespace cachet::config {

/// A problem for every key and table that was written and that nothing read, with the nearest names that something did:
/// those of the same table, else whole paths of keys in other tables. After the first hundred only their number is
/// reported.
std::vector<Problem> unknown_keys(const Document::State& state);

}  // namespace cachet::config
