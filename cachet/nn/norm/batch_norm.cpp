#include "cachet/nn/norm/batch_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

namespace cachet::nn {

constinit const NormKind<BatchNormOptions> BatchNormOptions::kKind{
    .name = "batch",
    .read =
        [](const config::View& table) {
          const double eps = table.real("eps", BatchNormOptions{}.eps, NormRanges::kEps);
          return BatchNormOptions{eps, table.real("momentum", BatchNormOptions{}.momentum, NormRanges::kMomentum)};
        },
    .make = [](const BatchNormOptions& o, int64_t channels, double) -> std::shared_ptr<Norm> {
      return std::make_shared<BatchNorm>(channels, o);
    },
    .statistics = NormStatistics::batch,
    .exports = Export::traced};

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
  if (!is_training()) return inference_affine()->apply(x);
  if (!renewal_)
    return training_forward(x, token_mask, {running_mean, running_var, num_batches_tracked}, options_.momentum);
  const Running own{at::zeros_like(running_mean), at::zeros_like(running_var), at::zeros_like(num_batches_tracked)};
  const torch::Tensor y = training_forward(x, token_mask, own, /*momentum=*/1);
  renewal_->add(own.batches, {own.mean, own.variance});
  return y;
}

void BatchNorm::end_renewal() {
  const at::NoGradGuard no_grad;
  renewal_->write({running_mean, running_var});
  if (renewal_->passes().defined()) num_batches_tracked.copy_(renewal_->passes());
  renewal_.reset();
}

torch::Tensor BatchNorm::training_forward(const torch::Tensor& x, const torch::Tensor& padding, const Running& running,
                                          double momentum) {
  const int64_t channels = weight.size(0);
  const torch::Tensor flat = x.reshape({-1, channels});
  TORCH_CHECK(flat.size(0) > 1 || reducer(), "batch_norm: training needs at least two tokens, got an input of ",
              x.sizes(), "; use a larger batch or image, or another norm");
  if (!padding.defined() && !observed({Signal::statistic, Signal::used_statistic}) && !reducer()) {
    // The backward pass reads the tensors that it is given here, so a second forward pass must not change them.
    const torch::Tensor mean = running.mean.clone(), variance = running.variance.clone();
    const torch::Tensor y = at::batch_norm(flat, weight, bias, mean, variance, /*training=*/true, momentum,
                                           options_.eps, /*cudnn_enabled=*/false)
                                .view(x.sizes());
    const at::NoGradGuard no_grad;
    torch::Tensor(running.batches).add_(1);
    torch::Tensor(running.mean).copy_(mean);
    torch::Tensor(running.variance).copy_(variance);
    return y;
  }

  const torch::Tensor wide = flat.to(running.variance.scalar_type());
  const torch::Tensor valid = padding.defined() ? padding.reshape({-1, 1}).bitwise_not()
                                                : at::ones({flat.size(0), 1}, flat.options().dtype(at::kBool));
  const auto over_all = [&](const torch::Tensor& sums) { return ops::sum_over(sums, reducer()); };
  const torch::Tensor tokens = valid.sum();
  const torch::Tensor of_all = reducer() ? over_all(tokens.to(wide.scalar_type())) : tokens;
  const torch::Tensor enough = of_all >= 2, count = of_all.clamp_min(2);
  const auto mean_of = [&](const torch::Tensor& t) {
    return over_all(at::where(valid, t, at::Scalar(0)).sum(0)) / count;
  };
  const torch::Tensor mean = mean_of(wide), variance = mean_of((wide - mean).square());
  {
    at::NoGradGuard no_grad;
    const auto move = [&](const torch::Tensor& average, const torch::Tensor& to) {
      average.copy_(at::where(enough, average.lerp(to, momentum), average));
    };
    torch::Tensor(running.batches).add_(enough);
    move(running.mean, mean);
    move(running.variance, variance * count / (count - 1));
  }
  notify(Signal::statistic, variance);
  notify(Signal::used_statistic, variance);
  return ((wide - mean) * at::rsqrt(variance + options_.eps) * weight + bias).to(x.scalar_type()).view(x.sizes());
}

}  // namespace cachet::nn
