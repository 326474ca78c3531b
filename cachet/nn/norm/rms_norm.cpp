#include "cachet/nn/norm/rms_norm.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros_like.h>

namespace cachet::nn {

constinit const NormKind<RMSNormOptions> RMSNormOptions::kKind{
    .name = "rms",
    .read = [](const config::View& table) { return RMSNormOptions{read_open_eps(table)}; },
    .make = [](const RMSNormOptions& o, int64_t channels, double default_eps) -> std::shared_ptr<Norm> {
      return std::make_shared<RMSNorm>(channels, o.eps.value_or(default_eps));
    },
    .statistics = NormStatistics::token,
    .exports = Export::traced};

RMSNorm::RMSNorm(int64_t channels, double eps) : Cloneable("RMSNorm"), eps_(eps) {
  TORCH_CHECK(channels >= 1 && eps >= 0, "rms_norm: needs at least one channel and eps of at least 0, got ", channels,
              " and ", eps);
  weight = register_parameter("weight", at::ones({channels}));
}

torch::Tensor RMSNorm::forward(const torch::Tensor& x, const torch::Tensor&) {
  check_channels("rms_norm", x, weight.size(0));
  return at::rms_norm(x, {weight.size(0)}, weight.to(x.scalar_type()), eps_);
}

SplitNorm RMSNorm::split() const {
  const auto core = std::make_shared<RMSNorm>(weight.size(0), eps_);
  core->to(weight.device(), weight.scalar_type());
  core->train(is_training());
  return {core, {weight.detach().clone(), at::zeros_like(weight.detach())}};
}

}  // namespace cachet::nn
