#include "cachet/train/step/host_copy.h"

#include <ATen/ops/cat.h>
#include <ATen/record_function.h>

#include <algorithm>

namespace cachet::train {

std::vector<double> copy_to_host(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return {};
  RECORD_FUNCTION(kHostCopy, c10::ArrayRef<const c10::IValue>{});
  c10::Device device(c10::kCPU);
  for (const at::Tensor& tensor : tensors)
    if (!tensor.is_cpu()) device = tensor.device();
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors)
    flat.push_back(tensor.detach().to(device, at::kDouble, /*non_blocking=*/true).reshape({-1}));
  const at::Tensor all = at::cat(flat);
  if (all.is_meta()) return std::vector<double>(static_cast<size_t>(all.numel()), 0);
  const at::Tensor here = all.cpu();
  const double* values = here.const_data_ptr<double>();
  return {values, values + here.numel()};
}

}  // namespace cachet::train
