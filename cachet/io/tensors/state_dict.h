#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"

namespace torch::nn {
class Module;
}

namespace cachet::io {

/// A tensor of a module and all names that lead to it, in the module's order: more than one where modules share it.
struct NamedTensor {
  std::vector<std::string> names;
  at::Tensor tensor;

  const std::string& name() const { return names.front(); }  // by which it is saved
};

/// The parameters, or the buffers, of a module and all below it, each once, in the module's order.
std::vector<NamedTensor> distinct_parameters(const torch::nn::Module& module);
std::vector<NamedTensor> distinct_buffers(const torch::nn::Module& module);

/// Parameters and buffers of a module and all below it by name, those that modules share once, by the first of their
/// names. The tensors are detached and share storage with the module.
TensorMap state_dict(const torch::nn::Module& module);

/// What load_state_dict accepts. The default takes equal sets of names, shapes and types only.
struct LoadPolicy {
  enum class Conversion {
    kNone,   // the same type only
    kExact,  // a type that holds every value of the file's: float32 into float64, bfloat16 into float32
    kAny,    // rounding too
  };
  Conversion conversion = Conversion::kExact;
  bool allow_missing = false;     // names of the module that the file lacks keep their values
  bool allow_unexpected = false;  // names of the file that the module lacks are left out
};

struct LoadReport {
  std::vector<std::string> loaded, missing, unexpected;
  std::vector<std::string> converted;  // "weight: float16 -> float32"
};

/// Copies the tensors into the module's parameters and buffers, under no-grad. Nothing is changed when it throws:
/// io::Error whose lines are all missing, unexpected, wrongly shaped and wrongly typed names, with the closest names
/// suggested. A tensor that modules share may have any of its names, or several with the same values.
LoadReport load_state_dict(torch::nn::Module& module, const TensorMap& tensors, const LoadPolicy& policy = {});

}  // namespace cachet::io
