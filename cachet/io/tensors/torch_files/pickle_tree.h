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

/// A run of elements that a pickle refers to, stored outside it.
struct PickledStorage {
  std::string key;  // the name of its record
  SafetensorsType type = SafetensorsType::kU8;
  uint64_t bytes = 0;
};

/// A tensor as a pickle describes it: a view of a storage that lies within it. Offset and strides count elements.
struct PickledTensor {
  uint32_t storage = 0;  // of PickleTree::storages
  SafetensorsType type = SafetensorsType::kF32;
  uint64_t offset = 0;
  std::vector<int64_t> shape, strides;
};

/// What a pickle holds, as plain values in one arena: nothing in it can act. Values refer to each other by index and
/// form no circle.
class PickleTree {
 public:
  using Ref = uint32_t;
  struct None {};
  struct Sequence {
    std::vector<Ref> items;
    bool fixed = false;  // a tuple
  };
  struct Dict {
    std::vector<std::pair<Ref, Ref>> items;
  };
  struct Global {
    uint32_t index;  // of globals
  };
  struct Storage {
    uint32_t index;  // of storages
  };
  struct Tensor {
    uint32_t index;  // of tensors
  };
  /// Stands for any other object: only its class is stored. Nothing is ever run to make it.
  struct Object {
    uint32_t index;              // of globals: its class, or the function that would have made it
    bool may_be_tensor = false;  // an unknown function would have made it, or it is a tensor that cannot be read
  };
  using Value =
      std::variant<None, bool, int64_t, double, std::string_view, Sequence, Dict, Global, Storage, Tensor, Object>;
  struct Node {
    Value value;
    uint16_t depth = 0;   // levels of containers below
    bool placed = false;  // in another container
  };

  template <class Kind>
  const Kind* as(Ref ref) const {
    return std::get_if<Kind>(&nodes[ref].value);
  }

  std::vector<std::byte> bytes;  // of the pickle: texts are views of it
  std::vector<Node> nodes;
  std::vector<TorchGlobal> globals;
  std::vector<PickledStorage> storages;
  std::vector<PickledTensor> tensors;
  Ref root = 0;
};

}  // namespace cachet::io
