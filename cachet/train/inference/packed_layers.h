#pragma once

#include <torch/nn/module.h>

#include "cachet/ops/support/packable.h"

namespace cachet::train {

/// Packs those layers of a model that can be packed (ops::Packable), during the object's lifetime. The destructor gives
/// each layer its former tensor again, so that an optimizer with this tensor still updates the layer.
class PackedLayers {
 public:
  explicit PackedLayers(const torch::nn::Module& model) : packed_(ops::pack_modules(model)) {}
  PackedLayers(const PackedLayers&) = delete;
  PackedLayers& operator=(const PackedLayers&) = delete;
  ~PackedLayers() { ops::unpack_modules(packed_); }

 private:
  ops::PackedModules packed_;
};

}  // namespace cachet::train
