#pragma once

#include "cachet/config/node.h"

namespace cachet::config {

/// Merges `above` over `below`: tables are merged key by key. A value that is not a table, even a list, is replaced by
/// the value in `above`, together with its origin.
///
/// If `above` changes the `kind` of a table (cache, norm, optimizer, ...) or the `name` of a model, the keys written
/// for the old kind or name stay, but are marked (Node::left_behind). The code that reads the new kind or name also
/// reads the marked keys that it knows. The other marked keys are ignored, and no problem is reported. Keys that
/// `--set` options write are never marked.
void merge_over(Node& below, Node above);

}  // namespace cachet::config
