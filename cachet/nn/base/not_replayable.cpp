#include "cachet/nn/base/not_replayable.h"

namespace cachet::nn {

std::optional<std::string> why_not_replayed(const torch::nn::Module& root) {
  const auto reason = [](const torch::nn::Module& module) -> std::optional<std::string> {
    const auto* one = dynamic_cast<const NotReplayable*>(&module);
    return one != nullptr ? one->why_not_replayed() : std::nullopt;
  };
  if (auto of_root = reason(root)) return of_root;
  for (const auto& module : root.modules(/*include_self=*/false))
    if (auto of_module = reason(*module)) return of_module;
  return std::nullopt;
}

}  // namespace cachet::nn
