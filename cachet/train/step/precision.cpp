#include "cachet/train/step/precision.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "cachet/ops/linear/linear.h"
#include "cachet/ops/support/processor.h"
#include "cachet/train/machine/device.h"

namespace cachet::train {

Precision precision_of_machine(const DeviceChoice& device) {
  const bool cuda = device.kind == DeviceChoice::Kind::cuda ||
                    (device.kind == DeviceChoice::Kind::automatic && available_devices().size() > 1);
  return cuda || ops::has_bfloat16_products() ? Precision::bfloat16 : Precision::float32;
}

double bfloat16_time_ratio() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kMaxTime = std::chrono::milliseconds(400);
  constexpr size_t kMaxPairs = 15;
  const at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({512, 384}), weight = at::randn({1536, 384});
  const at::Tensor narrow_x = x.to(at::kBFloat16), narrow_weight = weight.to(at::kBFloat16);
  const auto seconds = [](const at::Tensor& a, const at::Tensor& b) {
    const auto start = Clock::now();
    ops::linear(a, b);
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  seconds(x, weight);
  seconds(narrow_x, narrow_weight);
  std::vector<double> ratios;
  for (const auto begin = Clock::now();
       ratios.empty() || (ratios.size() < kMaxPairs && Clock::now() - begin < kMaxTime);)
    ratios.push_back(seconds(narrow_x, narrow_weight) / seconds(x, weight));
  std::ranges::sort(ratios);
  return ratios[ratios.size() / 2];
}

}  // namespace cachet::train
