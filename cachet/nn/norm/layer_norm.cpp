#include "cachet/nn/norm/layer_norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace cachet::nn {

constinit const NormKind<LayerNormOptions> LayerNormOptions::kKind{
    .name = "layer",
    .read = [](const config::View& table) { return LayerNormOptions{read_open_eps(table)}; },
    .make = [](const LayerNormOptions& o, int64_t channels, double default_eps) -> std::shared_ptr<Norm> {
      return std::make_shared<LayerNorm>(channels, o.eps.value_or(default_eps));
    },
    .statistics = NormStatistics::token,
    .exports = Export::traced};

LayerNorm::LayerNorm(int64_t channels, double eps) : Cloneable("LayerNorm"), eps_(eps) {
  TORCH_CHECK(channels >= 1 && eps >= 0, "layer_norm: needs at least one channel and eps of at least 0, got ", channels,
              " and ", eps);
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
}

torch::Tensor LayerNorm::forward(const torch::Tensor& x, const torch::Tensor&) {
  check_channels("layer_norm", x, weight.size(0));
  return at::layer_norm(x, {weight.size(0)}, weight, bias, eps_);
}

SplitNorm LayerNorm::split() const {
  const auto core = std::make_shared<LayerNorm>(weight.size(0), eps_);
  core->to(weight.device(), weight.scalar_type());
  core->train(is_training());
  return {core, {weight.detach().clone(), bias.detach().clone()}};
}

}  // namespace cachet::nn
