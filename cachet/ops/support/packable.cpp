#include "cachet/ops/support/packable.h"

namespace cachet::ops {

PackedModules pack_modules(const torch::nn::Module& model) {
  PackedModules packed;
  for (const auto& module : model.modules(/*include_self=*/false))
    if (auto* layer = dynamic_cast<Packable*>(module.get())) packed.emplace_back(module, layer->pack());
  return packed;
}

void unpack_modules(const PackedModules& packed) {
  for (const auto& [module, weight] : packed) dynamic_cast<Packable&>(*module).unpack(weight);
}

}  // namespace cachet::ops
