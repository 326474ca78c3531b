#pragma once

#include "cachet/config/node.h"

namespace cachet::config {

/// Merges `above` over `below`: tables are merged key by key. A value that is not a table, such as a list, is replaced
/// as a whole by the value in `above`, together with its origin.
///
/// If `above` changes the `kind` of a table (cache, norm, optimizer, ...) or the `name` of a model, the keys written
/// for the old kind or name stay, but are marked (Node::left_behind). If a marked key is also an option of the new kind
/// or model, the key is used. All other marked keys are ignored without an error. The function never marks keys that
/// `--set` options wrote.
void merge_over(Node& below, Node above);

}  // namespace cachet::config
