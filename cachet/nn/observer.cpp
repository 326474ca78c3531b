#include "cachet/nn/observer.h"

#include <utility>

namespace cachet::nn {

void Observable::listen(std::string path, Listener listener) {
  path_ = std::move(path);
  listener_ = std::move(listener);
}

void Observable::tell(Signal signal, const at::Tensor& value) const {
  if (observed({signal})) listener_(path_, signal, value.detach());
}

Observation::Observation(torch::nn::Module& root, const Listener& listener) {
  for (const auto& item : root.named_modules("", /*include_self=*/true)) {
    auto* observable = dynamic_cast<Observable*>(item.value().get());
    if (!observable) continue;
    observable->listen(item.key(), listener);
    modules_.push_back(item.value());
  }
}

Observation::~Observation() {
  for (const auto& module : modules_) dynamic_cast<Observable&>(*module).stop_listening();
}

}  // namespace cachet::nn
