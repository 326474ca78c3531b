#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/io/tensors/torch_files/pickle_tree.h"
#include "cachet/io/tensors/torch_files/torch_unpickler.h"

namespace cachet::io {

/// Computes the results of the calls that torch.save writes from their arguments, which are a tuple in `tree`. Each
/// function throws io::Error without a position; the caller adds the position.

/// If Cachet has no tensor type for the elements of a storage, returns their type (in tree.globals); else nothing.
std::optional<uint32_t> unread_storage(const PickleTree& tree, PickleTree::Ref arguments);

/// Returns the part (in tree.globals) of a tensor's or parameter's arguments that is not read: a placeholder instead of
/// its storage or tensor, or an element type that Cachet does not support. Empty if all parts are read, and for other
/// functions.
std::optional<uint32_t> unread_part(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments);

/// ("storage", type, key, location, count), a persistent id: must have as many bytes as its record.
PickledStorage rebuild_storage(const PickleTree& tree, PickleTree::Ref arguments, const StorageBytes& storage_bytes);

/// (storage, offset, shape, strides, requires_grad, hooks[, type of _v3][, metadata]): must lie in its storage, and
/// have no more elements than it.
PickledTensor rebuild_tensor(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments,
                             size_t most_rank);

}  // namespace cachet::io
