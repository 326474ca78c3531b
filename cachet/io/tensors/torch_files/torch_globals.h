#pragma once

#include <string>
#include <string_view>

#include "cachet/io/tensors/safetensors/safetensors_header.h"

namespace cachet::io {

/// A Python name in a pickle, and how the reader treats the name. The reader of the pickle neither looks up nor calls
/// any Python name.
struct TorchGlobal {
  enum class Kind {
    dictionary,           // collections.OrderedDict or defaultdict: read as a dictionary
    shape,                // torch.Size: read as a tuple
    rebuild_tensor,       // torch._utils._rebuild_tensor_v2 or _v3
    rebuild_parameter,    // makes a parameter of a tensor
    rebuild_from_type,    // torch._tensor._rebuild_from_type_v2: a tensor or parameter with attributes
    storage,              // such as torch.FloatStorage or torch.storage.UntypedStorage
    element_type,         // such as torch.float32
    plain_value,          // known to hold plain values: numpy's scalars, pathlib's paths
    other,                // any other class or function: instances and results of calls become placeholders
    code,                 // known to run code; a file that mentions it is refused
    unsupported_storage,  // a storage whose element type Cachet does not support
  };
  Kind kind = Kind::other;
  std::string name;                                 // such as "torch._utils._rebuild_tensor_v2"
  SafetensorsType element = SafetensorsType::kF32;  // element type, for `storage` and `element_type`
};

/// Classifies a Python name in a pickle. The kind `code` only makes error messages clearer. Even if a name that runs
/// code has another kind, reading is safe, because the reader never runs a function that a file names.
TorchGlobal torch_global(std::string_view module, std::string_view name);

}  // namespace cachet::io
