#pragma once

#include "cachet/config/node.h"

namespace cachet::config {

/// Merges `above` over `below`: tables are merged key by key. Any other value, also a list, is replaced as a whole by
/// the value in `above`, together with its origin.
///
/// If `above` changes the `kind` of a table (cache, norm, optimizer, ...) or the `name` of a model, the keys written
/// for the old kind or name stay, but are marked (Node::left_behind). A marked key that is also an option of the new
/// kind or model is used. All other marked keys are ignored without an error. Keys from `--set` options are never
/// marked.
void merge_over(Node& below, Node above);

}  // namespace cachet::config
