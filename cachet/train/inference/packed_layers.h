#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

namespace cachet::train {

/// While it lives, the layers of a model that can be packed (ops::Packable) are. At its end each layer has the very
/// tensor back that it had, so an optimizer that holds it still moves it.
class PackedLayers {
 public:
  explicit PackedLayers(const torch::nn::Module& model);
  PackedLayers(const PackedLayers&) = delete;
  PackedLayers& operator=(const PackedLayers&) = delete;
  ~PackedLayers();

 private:
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, at::Tensor>> weights_;
};

}  // namespace cachet::train
