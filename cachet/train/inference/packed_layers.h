#pragma once

#include <torch/nn/module.h>

#include "cachet/ops/support/packable.h"

namespace cachet::train {

/// While it lives, the layers of a model that can be packed (ops::Packable) are. At its end each layer has the very
/// tensor back that it had, so an optimizer that holds it still moves it.
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
