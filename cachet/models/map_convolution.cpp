#include "cachet/models/map_convolution.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace cachet::models {

at::Tensor convolve_map(const at::Tensor& map, const at::Tensor& weight, const at::Tensor& bias, int64_t stride,
                        int64_t padding) {
  const at::Tensor dense = map.contiguous(at::MemoryFormat::ChannelsLast);
  const bool is_trained_in_autocast =
      map.is_cpu() && at::GradMode::is_enabled() && at::autocast::is_autocast_enabled(at::kCPU);
  if (!is_trained_in_autocast || map.size(3) >= stride) return at::conv2d(dense, weight, bias, stride, padding);
  const c10::impl::ExcludeDispatchKeyGuard without_autocast(c10::DispatchKey::AutocastCPU);
  return at::conv2d(dense.to(weight.scalar_type()), weight, bias, stride, padding)
      .to(at::autocast::get_autocast_dtype(at::kCPU));
}

}  // namespace cachet::models
