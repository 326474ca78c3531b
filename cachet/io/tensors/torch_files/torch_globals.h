#pragma once

#include <string>
#include <string_view>

#include "cachet/io/tensors/safetensors/safetensors_header.h"

namespace cachet::io {

/// A Python name in a pickle, and how the reader treats it. No name is looked up or called.
struct TorchGlobal {
  enum class Kind {
    dictionary,           // collections.OrderedDict, defaultdict: read as a dictionary
    shape,                // torch.Size: read as a tuple
    rebuild_tensor,       // torch._utils._rebuild_tensor_v2, _v3
    rebuild_parameter,    // makes a parameter of a tensor
    rebuild_from_type,    // torch._tensor._rebuild_from_type_v2: a tensor or parameter with attributes
    storage,              // torch.FloatStorage, torch.storage.UntypedStorage
    element_type,         // torch.float32
    plain_value,          // known to hold plain values: numpy's scalars, pathlib's paths
    other,                // any other class or function: instances and results of calls become placeholders
    code,                 // known to run code; a file that mentions it is refused
    unsupported_storage,  // a storage whose element type Cachet does not support
  };
  Kind kind = Kind::other;
  std::string name;                                 // "torch._utils._rebuild_tensor_v2"
  SafetensorsType element = SafetensorsType::kF32;  // element type of a storage or an element_type
};

/// Classifies a name. The list of `code` only serves a clear message about what a file attempts. Safety does not depend
/// on the list, because nothing that a file mentions is ever run.
TorchGlobal torch_global(std::string_view module, std::string_view name);

}  // namespace cachet::io
