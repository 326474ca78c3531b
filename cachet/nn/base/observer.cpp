#include "cachet/nn/base/observer.h"

#include <ranges>

namespace cachet::nn {

void Observable::notify(Signal signal, const at::Tensor& value) const {
  if (observed({signal})) heard_.listener(heard_.path, signal, value.detach());
}

Observation::Observation(torch::nn::Module& root, const Listener& listener) {
  for (const auto& item : root.named_modules("", /*include_self=*/true))
    if (auto* observable = dynamic_cast<Observable*>(item.value().get()))
      before_.emplace_back(item.value(), observable->listen({item.key(), listener}));
}

Observation::~Observation() {
  // From the last to the first: of a module that is there twice, the first has what was heard before.
  for (auto& [module, heard] : std::views::reverse(before_))
    dynamic_cast<Observable&>(*module).listen(std::move(heard));
}

}  // namespace cachet::nn
