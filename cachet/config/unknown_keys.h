#pragma once

#include <vector>

#include "cachet/config/document_state.h"

namespace cachet::config {

/// Returns a problem for every key and table that the document has but no reader read. For each unknown name, the
/// problem suggests the most similar known names: names of the same table, or else full paths of keys in other tables.
/// If no name is similar, the problem lists the keys of the table, or names the command that lists them if they are
/// many. If more than 100 keys are unknown, the last problem in the list states the number of further unknown keys.
std::vector<Problem> unknown_keys(const Document::State& state);

}  // namespace cachet::config
