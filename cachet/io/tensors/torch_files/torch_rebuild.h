#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/io/tensors/torch_files/pickle_tree.h"
#include "cachet/io/tensors/torch_files/torch_unpickler.h"

namespace cachet::io {

/// Computes the results of calls in a torch.save file from the arguments of a call, which are a tuple in `tree`. Each
/// function throws io::Error without a position; the caller adds the position.

/// If Cachet does not support the element type of a storage, returns the type's index in tree.globals; else empty.
std::optional<uint32_t> unread_storage(const PickleTree& tree, PickleTree::Ref arguments);

/// Returns the part (index in tree.globals) of a tensor's or parameter's arguments that is not read: a placeholder for
/// its storage or tensor, or an element type that Cachet does not support. Empty if all parts are read, and for other
/// functions.
std::optional<uint32_t> unread_part(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments);

/// Makes a storage of a persistent id ("storage", type, key, location, count). The record must have as many bytes.
PickledStorage rebuild_storage(const PickleTree& tree, PickleTree::Ref arguments, const StorageBytes& storage_bytes);

/// Makes a tensor of (storage, offset, shape, strides, requires_grad, hooks[, type of _v3][, metadata]). The
/// tensor must lie in its storage, and have no more elements than the storage.
PickledTensor rebuild_tensor(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments,
                             size_t most_rank);

}  // namespace cachet::io
