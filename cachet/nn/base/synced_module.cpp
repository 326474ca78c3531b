#include "cachet/nn/base/synced_module.h"

namespace cachet::nn {

void use_batch_reducer(torch::nn::Module& root, const std::shared_ptr<ops::BatchReducer>& reducer) {
  for (const auto& module : root.modules())
    if (auto* replicated = dynamic_cast<SyncedModule*>(module.get())) replicated->use_batch_reducer(reducer);
}

}  // namespace cachet::nn
