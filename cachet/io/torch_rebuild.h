#pragma once

#include <string>

#include "cachet/io/pickle_tree.h"
#include "cachet/io/torch_unpickler.h"

namespace cachet::io {

/// What the calls that torch.save writes would have returned, worked out from their arguments, which lie in `tree` as a
/// tuple. Each throws io::Error without a place, which the caller adds.

/// ("storage", type, key, location, count), a persistent id: must have as many bytes as its record.
PickledStorage rebuild_storage(const PickleTree& tree, PickleTree::Ref arguments, const StorageBytes& storage_bytes);

/// (storage, offset, shape, strides, requires_grad, hooks[, type of _v3][, metadata]): must lie in its storage, and
/// have no more elements than it.
PickledTensor rebuild_tensor(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments,
                             size_t most_rank);

}  // namespace cachet::io
