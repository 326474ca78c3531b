#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cachet/io/tensors/torch_files/pickle_tree.h"

namespace cachet::io {

/// The limits of the reader, so that memory and time are bounded for any pickle.
struct PickleLimits {
  uint64_t values = 400'000;    // made; a checkpoint has about 18 for each of its tensors
  uint64_t pushes = 1'500'000;  // onto the stack
  uint16_t depth = 64;          // of containers in containers
  uint64_t tensors = 50'000;
  size_t rank = 16;
};

/// The bytes of a storage's record; throws io::Error where there is none.
using StorageBytes = std::function<uint64_t(const std::string& key)>;

/// Reads a pickle as torch.save writes it (protocols 2 to 5) into plain values. It is a walk over a list of opcodes
/// that runs nothing. It makes tensors and containers itself; every other call and every instance of a class becomes a
/// placeholder that holds nothing (PickleTree::Object), so that what lies next to the weights does not keep them from
/// being read. Throws io::Error, beginning with `name`: an opcode that is not on the list, a function that is known to
/// run code ("holds code: it mentions 'os.system'"), a stack, mark or memo that is used before it is filled, counts
/// beyond the bytes left, items set on what is not a dictionary, tensors that reach out of their storage, circles,
/// depth, bytes after the end.
PickleTree unpickle(std::vector<std::byte> bytes, const std::string& name, const StorageBytes& storage_bytes,
                    const PickleLimits& limits = {});

}  // namespace cachet::io
