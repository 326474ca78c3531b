#include "cachet/nn/base/synced_module.h"

namespace cachet::nn {

void use_replicas(torch::nn::Module& root, const std::shared_ptr<ops::Replicas>& replicas) {
  for (const auto& module : root.modules())
    if (auto* replicated = dynamic_cast<Replicated*>(module.get())) replicated->use_replicas(replicas);
}

}  // namespace cachet::nn
