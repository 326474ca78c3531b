#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cachet/io/tensors/safetensors/safetensors_header.h"
#include "cachet/io/tensors/torch_files/torch_globals.h"

namespace cachet::io {

/// A tensor storage: contiguous elements outside the pickle, to which the pickle refers.
struct PickledStorage {
  std::string key;  // name of the storage's record
  SafetensorsType type = SafetensorsType::kU8;
  uint64_t bytes = 0;
};

/// A tensor in a pickle: a view of a storage, within its bounds. Offset and strides count elements.
struct PickledTensor {
  uint32_t storage = 0;  // index in PickleTree::storages
  SafetensorsType type = SafetensorsType::kF32;
  uint64_t offset = 0;
  std::vector<int64_t> shape, strides;
};

/// The content of a pickle as plain values in one arena. No value can execute code. Values refer to each other by
/// index, without cycles.
class PickleTree {
 public:
  using Ref = uint32_t;
  struct None {};
  struct Sequence {
    std::vector<Ref> items;
    bool fixed = false;  // whether the sequence is a tuple
  };
  struct Dict {
    std::vector<std::pair<Ref, Ref>> items;
  };
  struct Global {
    uint32_t index;  // index in globals
  };
  struct Storage {
    uint32_t index;  // index in storages
  };
  struct Tensor {
    uint32_t index;  // index in tensors
  };
  /// A placeholder for an object that has none of the other types of Value. A placeholder stores only the class of the
  /// object. Making a placeholder runs no code of the pickle file.
  struct Object {
    uint32_t index;              // index in globals of the object's class, or of the function that would have made it
    bool may_be_tensor = false;  // whether it is an unreadable tensor, or the result of an unknown function
  };
  using Value =
      std::variant<None, bool, int64_t, double, std::string_view, Sequence, Dict, Global, Storage, Tensor, Object>;
  struct Node {
    Value value;
    uint16_t depth = 0;   // levels of containers below this one
    bool placed = false;  // whether the node lies in another container
  };

  template <class Kind>
  const Kind* as(Ref ref) const {
    return std::get_if<Kind>(&nodes[ref].value);
  }

  std::vector<std::byte> bytes;  // bytes of the pickle; texts are views of them
  std::vector<Node> nodes;
  std::vector<TorchGlobal> globals;
  std::vector<PickledStorage> storages;
  std::vector<PickledTensor> tensors;
  Ref root = 0;
};

}  // namespace cachet::io
