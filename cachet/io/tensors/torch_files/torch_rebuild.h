#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachet/io/tensors/torch_files/pickle_tree.h"
#include "cachet/io/tensors/torch_files/torch_unpickler.h"

namespace cachet::io {

/// These functions compute the results of the Python calls in the pickle of a torch.save file. `arguments` is the tuple
/// of a call's arguments in `tree`. Each function throws io::Error without a position; the caller adds the position.

/// If Cachet does not support a storage's element type, returns the type's index in tree.globals; otherwise empty.
std::optional<uint32_t> unread_storage(const PickleTree& tree, PickleTree::Ref arguments);

/// Checks if Cachet can read the tensor or parameter that a call of `function` with `arguments` makes. If Cachet cannot
/// read a part of the tensor, returns the index in tree.globals of the unsupported element type, or of the unsupported
/// class if a placeholder replaces the storage or the tensor. If Cachet can read all parts, or if `function` makes
/// neither a tensor nor a parameter, returns an empty value.
std::optional<uint32_t> unread_part(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments);

/// Makes a storage from a persistent id ("storage", type, key, location, count). The storage's record in the file must
/// have `count` elements.
PickledStorage rebuild_storage(const PickleTree& tree, PickleTree::Ref arguments, const StorageBytes& storage_bytes);

/// Makes a tensor from (storage, offset, shape, strides, requires_grad, hooks[, type of _v3][, metadata]). The tensor
/// must lie in its storage, and must not have more elements than the storage.
PickledTensor rebuild_tensor(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments,
                             size_t most_rank);

}  // namespace cachet::io
