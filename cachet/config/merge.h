#pragma once

#include "cachet/config/node.h"

namespace cachet::config {

/// Merges `above` over `below`: tables key by key. Any other value, even a list, is replaced, together with its origin.
///
/// If `above` changes the `kind` of a table (cache, norm, optimizer, ...) or the `name` of a model, the keys written
/// for the old kind or name stay, but are marked (Node::left_behind). The reader of the new kind or name reads the
/// marked keys that it knows; other marked keys are not reported as unknown. Keys of `--set` are never marked.
void merge_over(Node& below, Node above);

}  // namespace cachet::config
