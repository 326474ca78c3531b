#include "cachet/train/inference/packed_layers.h"

#include "cachet/ops/support/packable.h"

namespace cachet::train {

PackedLayers::PackedLayers(const torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false))
    if (auto* layer = dynamic_cast<ops::Packable*>(module.get())) weights_.emplace_back(module, layer->pack());
}

PackedLayers::~PackedLayers() {
  for (auto& [module, weight] : weights_) dynamic_cast<ops::Packable&>(*module).unpack(weight);
}

}  // namespace cachet::train
