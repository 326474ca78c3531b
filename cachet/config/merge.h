#pragma once

#include "cachet/config/node.h"

namespace cachet::config {

/// Lays one table over another: tables are merged key by key, everything else, lists too, is replaced with its origin.
///
/// A table that gets another `kind` (of cache, norm, optimizer, ...) or `name` (of a model) keeps the keys that were
/// written for the old one, but marks them as keys of the old one: the new one reads those that it knows, and the
/// others are not reported as unknown. Keys of `--set` are never marked.
void merge_over(Node& below, Node above);

}  // namespace cachet::config
