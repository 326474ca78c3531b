#include "cachet/nn/norm/recalibrated_means.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

namespace cachet::nn {

void RenewedMeans::add(const torch::Tensor& counted, const std::vector<torch::Tensor>& statistics) {
  const at::NoGradGuard no_grad;
  const torch::Tensor count = counted.to(at::kLong), counts = count > 0;
  passes_ = passes_.defined() ? passes_ + count : count.clone();
  for (size_t i = 0; i < statistics.size(); ++i) {
    const torch::Tensor wide = statistics[i].to(at::kDouble);
    const torch::Tensor own = at::where(counts, wide, at::zeros_like(wide));  // 0 tokens may have made NaN
    if (i == sums_.size())
      sums_.push_back(own);
    else
      sums_[i] = sums_[i] + own;
  }
}

void RenewedMeans::write(const std::vector<torch::Tensor>& running) const {
  if (!passes_.defined()) return;
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < running.size(); ++i)
    running[i].copy_(at::where(passes_ > 0, sums_[i] / passes_.clamp_min(1), running[i].to(at::kDouble)));
}

}  // namespace cachet::nn
