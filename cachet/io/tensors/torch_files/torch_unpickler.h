#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cachet/io/tensors/torch_files/pickle_tree.h"

namespace cachet::io {

/// Limits of the reader, which bound memory and time for any pickle.
struct PickleLimits {
  uint64_t values = 400'000;    // number of values; a checkpoint has about 18 for each of its tensors
  uint64_t pushes = 1'500'000;  // number of pushes onto the stack
  uint16_t depth = 64;          // nesting depth of containers
  uint64_t tensors = 50'000;
  size_t rank = 16;
};

/// A function that returns the number of bytes of a storage's record. The function throws io::Error if the storage has
/// no record.
using StorageBytes = std::function<uint64_t(const std::string& key)>;

/// Reads a pickle of torch.save (protocols 2 to 5) into plain values. Accepts only the opcodes of PickleOpcode, and
/// runs no code. The reader itself creates the tensors and containers that a pickle describes. Calls of unknown
/// functions and instances of classes become empty placeholders (PickleTree::Object), so that these objects do not
/// prevent reading the weights. Throws io::Error, whose message begins with `name`, for an unlisted opcode, a function
/// that is known to run code ("holds code: it mentions 'os.system'"), a stack, mark or memo that is used before it is
/// filled, counts beyond the bytes left, items set on a value that is not a dictionary, tensors that reach out of their
/// storage, cycles, excessive depth, and bytes after the end.
PickleTree unpickle(std::vector<std::byte> bytes, const std::string& name, const StorageBytes& storage_bytes,
                    const PickleLimits& limits = {});

}  // namespace cachet::io
