#include "cachet/nn/base/cloneable.h"

#include <c10/util/Type.h>

#include <string>

namespace cachet::nn {

CopyableModule::CopyableModule(const CopyableModule& other) : torch::nn::Module(other.name()) {
  for (const auto& item : other.parameters_) parameters_.insert(item.key(), Cloning::copied(item.value()));
  for (const auto& item : other.named_buffers(/*recurse=*/false))
    register_buffer(item.key(), Cloning::copied(item.value()));
  for (const auto& item : other.named_children()) register_module(item.key(), Cloning::copied(item.value()));
}

std::shared_ptr<torch::nn::Module> CopyableModule::clone(const std::optional<torch::Device>&) const {
  const std::string type = c10::demangle(typeid(*this).name());
  TORCH_CHECK(false, type, " cannot be cloned: derive it from cachet::nn::Cloneable<", type, ", its base>");
}

}  // namespace cachet::nn
