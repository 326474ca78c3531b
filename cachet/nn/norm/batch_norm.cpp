#include "cachet/nn/norm/batch_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

namespace cachet::nn {

BatchNorm::BatchNorm(int64_t channels, const BatchNormOptions& options) : Cloneable("BatchNorm"), options_(options) {
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
  running_mean = register_buffer("running_mean", at::zeros({channels}));
  running_var = register_buffer("running_var", at::ones({channels}));
  num_batches_tracked = register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
}

std::optional<Affine> BatchNorm::inference_affine() const {
  const torch::Tensor scale = weight * at::rsqrt(running_var + options_.eps);
  return Affine{scale, bias - running_mean * scale};
}

torch::Tensor BatchNorm::forward(const torch::Tensor& x, const torch::Tensor& token_mask) {
  check_channels("batch_norm", x, weight.size(0));
  if (is_training()) return training_forward(x, token_mask);
  return inference_affine()->apply(x);
}

torch::Tensor BatchNorm::training_forward(const torch::Tensor& x, const torch::Tensor& padding) {
  const int64_t channels = weight.size(0);
  const torch::Tensor flat = x.reshape({-1, channels});
  TORCH_CHECK(flat.size(0) > 1 || replicas(), "batch_norm: training needs at least two tokens, got an input of ",
              x.sizes(), "; take a larger batch or image, or another norm");
  if (!padding.defined() && !observed({Signal::statistic, Signal::used_statistic}) && !replicas()) {
    num_batches_tracked.add_(1);
    return at::batch_norm(flat, weight, bias, running_mean, running_var, /*training=*/true, options_.momentum,
                          options_.eps, /*cudnn_enabled=*/false)
        .view(x.sizes());
  }

  const torch::Tensor wide = flat.to(running_var.scalar_type());
  const torch::Tensor valid = padding.defined() ? padding.reshape({-1, 1}).bitwise_not()
                                                : at::ones({flat.size(0), 1}, flat.options().dtype(at::kBool));
  const auto over_all = [&](const torch::Tensor& sums) { return ops::sum_over(sums, replicas()); };
  const torch::Tensor tokens = valid.sum();
  const torch::Tensor of_all = replicas() ? over_all(tokens.to(wide.scalar_type())) : tokens;
  const torch::Tensor enough = of_all >= 2, count = of_all.clamp_min(2);
  const auto mean_of = [&](const torch::Tensor& t) {
    return over_all(at::where(valid, t, at::Scalar(0)).sum(0)) / count;
  };
  const torch::Tensor mean = mean_of(wide), variance = mean_of((wide - mean).square());
  {
    at::NoGradGuard no_grad;
    const auto move = [&](const torch::Tensor& running, const torch::Tensor& to) {
      running.copy_(at::where(enough, running.lerp(to, options_.momentum), running));
    };
    num_batches_tracked.add_(enough);
    move(running_mean, mean);
    move(running_var, variance * count / (count - 1));
  }
  tell(Signal::statistic, variance);
  tell(Signal::used_statistic, variance);
  return ((wide - mean) * at::rsqrt(variance + options_.eps) * weight + bias).to(x.scalar_type()).view(x.sizes());
}

}  // namespace cachet::nn
