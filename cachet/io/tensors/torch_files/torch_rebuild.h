#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/io/tensors/torch_files/pickle_tree.h"
#include "cachet/io/tensors/torch_files/torch_unpickler.h"

namespace cachet::io {

/// What the calls that torch.save writes would have returned, worked out from their arguments, which lie in `tree` as a
/// tuple. Each throws io::Error without a position, which the caller adds.

/// The type, among tree.globals, of a storage whose elements Cachet has no tensors of; nothing of any other.
std::optional<uint32_t> unread_storage(const PickleTree& tree, PickleTree::Ref arguments);

/// The part of a tensor's or a parameter's arguments that is not read, among tree.globals: a placeholder instead of its
/// storage or tensor, or a type of elements that Cachet has no tensors of. Nothing if all parts are read, and for other
/// functions.
std::optional<uint32_t> unread_part(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments);

/// ("storage", type, key, location, count), a persistent id: must have as many bytes as its record.
PickledStorage rebuild_storage(const PickleTree& tree, PickleTree::Ref arguments, const StorageBytes& storage_bytes);

/// (storage, offset, shape, strides, requires_grad, hooks[, type of _v3][, metadata]): must lie in its storage, and
/// have no more elements than it.
PickledTensor rebuild_tensor(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments,
                             size_t most_rank);

}  // namespace cachet::io
