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
    rebuild_parameter,    // of a tensor
    rebuild_from_type,    // torch._tensor._rebuild_from_type_v2: one of the above with attributes
    storage,              // torch.FloatStorage, torch.storage.UntypedStorage
    element_type,         // torch.float32
    plain_value,          // known to hold plain values: numpy's scalars, pathlib's paths
    other,                // any other class or function: instances and what calls would return become placeholders
    code,                 // known to run code, refused where it is mentioned
    unsupported_storage,  // of elements that Cachet has no tensors of
  };
  Kind kind = Kind::other;
  std::string name;                                 // "torch._utils._rebuild_tensor_v2"
  SafetensorsType element = SafetensorsType::kF32;  // of a storage, element_type
};

/// Classifies a name. The list of `code` only serves a clear message about what a file attempts. Safety does not depend
/// on the list, because nothing that a file mentions is ever run.
TorchGlobal torch_global(std::string_view module, std::string_view name);

}  // namespace cachet::io
