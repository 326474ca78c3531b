#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// The contribution of the memories to the outputs of a model's cached attention layers, over all observed forward
/// passes. Padding does not count.
class MemoryUse {
 public:
  struct Layer {
    std::vector<double> shares;         // σ(λ) of each head
    std::vector<double> contributions;  // ‖σ(λ)·o_mem‖ ÷ ‖o‖ of each head; NaN if o is zero
    double contribution = 0;            // ‖σ(λ)·o_mem‖ ÷ ‖o‖ of all heads together
    // Mean absolute values of o_self, o_mem and the mixture o, over tokens and channels.
    double self_activation = 0, memory_activation = 0, mixture_activation = 0;
  };

  nn::Listener listener();
  ByLayer<Layer> layers() const;

 private:
  struct Sums {
    at::Tensor gate, self_output;                // tensors of the current call
    at::Tensor memory_squares, mixture_squares;  // (H), float64
    double self = 0, memory = 0, mixture = 0;    // sums of absolute values
    double values = 0, memory_values = 0;        // numbers of values
  };
  void add(Sums& sums, const at::Tensor& memory_output, const at::Tensor& padding) const;

  ByLayer<Sums> sums_;
  std::pair<std::string, at::Tensor> padding_;  // last report: the module, and its padding tokens
};

}  // namespace cachet::analysis
