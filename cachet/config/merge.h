#pragma once

#include "cachet/config/node.h"

namespace cachet::config {

/// Merges one table over another. Tables merge key by key; other values, also lists, are replaced with their origins.
///
/// If a table gets another `kind` (of cache, norm, optimizer, ...) or `name` (of a model), the keys written for the old
/// kind or name stay and are marked (Node::left_behind). The reader of the new kind or name reads the keys that it
/// knows, and the other marked keys are not reported as unknown. Keys of `--set` are never marked.
void merge_over(Node& below, Node above);

}  // namespace cachet::config
