#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace torch::nn {
class Module;
}

namespace cachet::io {

/// A tensor of a module and all its names, in the module's order. A tensor has several names if modules share it.
struct NamedTensor {
  std::vector<std::string> names;
  at::Tensor tensor;

  const std::string& name() const { return names.front(); }  // the name by which it is saved
};

/// Returns the parameters (or buffers) of a module and all modules below it, each once, in the module's order.
std::vector<NamedTensor> distinct_parameters(const torch::nn::Module& module);
std::vector<NamedTensor> distinct_buffers(const torch::nn::Module& module);

/// Returns the parameters and buffers of a module and of its submodules, by name. A shared tensor appears once, under
/// the first of its names. The tensors are detached and use the module's storage.
TensorMap state_dict(const torch::nn::Module& module);

/// The differences that load_state_dict() accepts. By default, a tensor may differ from the module's tensor only in its
/// type, and only if the conversion is exact.
struct LoadPolicy {
  enum class Conversion {
    kNone,   // only the same type
    kExact,  // a type that represents every value of the file's type: float32 into float64, bfloat16 into float32
    kAny,    // any type, even if values are rounded
  };
  Conversion conversion = Conversion::kExact;
  bool allow_missing = false;     // whether tensors that the file lacks may retain their values in the module
  bool allow_unexpected = false;  // whether tensors that the module lacks are ignored
};

struct LoadReport {
  std::vector<std::string> loaded, missing, unexpected;
  std::vector<std::string> converted;  // lines such as "weight: float16 -> float32"
};

/// Copies the tensors into the module's parameters and buffers, under no-grad. If load_state_dict() throws io::Error,
/// the module is unchanged. The message of the error lists all tensor names that are missing, unexpected, or of a wrong
/// shape or type, and suggests the closest names. If modules share a tensor, `tensors` may contain it under any of its
/// names, or under several names with the same values.
LoadReport load_state_dict(torch::nn::Module& module, const TensorMap& tensors, const LoadPolicy& policy = {});

}  // namespace cachet::io
