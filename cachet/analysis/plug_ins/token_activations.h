#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/layout.h"

namespace cachet::analysis {

/// The response of the branches of cached attention layers to each token: the mean absolute activation over a token's
/// channels, in the last observed forward pass.
class TokenActivations {
 public:
  struct Layer {
    std::optional<nn::Grid> grid;  // grid of the tokens after the class tokens, if these tokens form a grid
    int64_t class_tokens = 0;
    at::Tensor self, memory, mixture;   // (B, T) on the CPU, float32 or wider: of o_self, o_mem and o
    at::Tensor self_mean, memory_mean;  // means of the signed values: ō_self and ō_mem of the paper
  };

  nn::Listener listener();
  const ByLayer<Layer>& layers() const { return layers_; }

 private:
  struct Call {
    std::optional<nn::Grid> grid;
    int64_t class_tokens = 0;
    at::Tensor gate, self_output;
  };
  ByLayer<Call> calls_;
  ByLayer<Layer> layers_;
};

}  // namespace cachet::analysis
