#include "cachet/nn/attention/attention_state.h"

#include <ATen/ops/index_select.h>

namespace cachet::nn {

AttentionState& AttentionState::part(const std::string& name) {
  auto& slot = parts[name];
  if (!slot) slot = std::make_shared<AttentionState>();
  return *slot;
}

void AttentionState::reorder(const at::Tensor& rows) {
  for (auto& [name, tensor] : tensors)
    if (tensor.size(0) != 1 || rows.numel() == 1) tensor = tensor.index_select(0, rows);
  for (auto& [name, child] : parts) child->reorder(rows);
}

void AttentionState::detach() {
  for (auto& [name, tensor] : tensors) tensor = tensor.detach();
  for (auto& [name, child] : parts) child->detach();
}

std::map<std::string, at::Tensor> AttentionState::named_tensors() const {
  std::map<std::string, at::Tensor> all = tensors;
  for (const auto& [name, child] : parts)
    for (const auto& [inner, tensor] : child->named_tensors()) all.emplace(name + "/" + inner, tensor);
  return all;
}

}  // namespace cachet::nn
