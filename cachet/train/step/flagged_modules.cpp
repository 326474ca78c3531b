#include "cachet/train/step/flagged_modules.h"

namespace cachet::train {

std::vector<ops::HostFlag*> flagged_modules(const torch::nn::Module& model) {
  std::vector<ops::HostFlag*> flagged;
  for (const auto& module : model.modules(/*include_self=*/false))
    if (auto* one = dynamic_cast<ops::HostFlag*>(module.get())) flagged.push_back(one);
  return flagged;
}

}  // namespace cachet::train
