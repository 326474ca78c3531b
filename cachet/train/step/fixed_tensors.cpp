#include "cachet/train/step/fixed_tensors.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

namespace cachet::train {
namespace {

std::string layout_of(const std::vector<at::Tensor*>& tensors) {
  std::string layout;
  for (const at::Tensor* tensor : tensors) {
    if (!tensor->defined()) {
      layout += "-;";
      continue;
    }
    layout += c10::toString(tensor->scalar_type());
    for (const int64_t size : tensor->sizes()) layout += "," + std::to_string(size);
    layout += "/";
    for (const int64_t stride : tensor->strides()) layout += "," + std::to_string(stride);
    layout += ";";
  }
  return layout;
}

}  // namespace

std::optional<std::string> FixedTensors::place(const std::vector<at::Tensor*>& tensors) {
  const at::NoGradGuard no_grad;
  std::string layout = layout_of(tensors);
  if (!by_layout_.contains(layout)) {
    int64_t bytes = 0;
    for (const at::Tensor* tensor : tensors)
      if (tensor->defined()) bytes += static_cast<int64_t>(tensor->nbytes());
    if (by_layout_.size() >= max_layouts_ || bytes > free_bytes_) return std::nullopt;
    free_bytes_ -= bytes;
  }
  std::vector<at::Tensor>& fixed = by_layout_[layout];
  if (fixed.empty())
    for (const at::Tensor* tensor : tensors)
      fixed.push_back(tensor->defined() ? at::empty_like(*tensor) : at::Tensor());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i]->defined()) continue;
    fixed[i].copy_(*tensors[i], /*non_blocking=*/true);
    *tensors[i] = fixed[i];
  }
  return layout;
}

}  // namespace cachet::train
