#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rsqrt.h>
#include <cachet/layers.h>

#include <cmath>

/// g·x/√(Σx² + ε) over each token's channels, with one trained number g (ScaleNorm, arXiv 1910.05895).
struct ScaleNormOptions {
  double eps = 1e-5;

  static const cachet::nn::NormKind<ScaleNormOptions> kKind;
};

class ScaleNorm : public cachet::nn::Cloneable<ScaleNorm, cachet::nn::Norm> {
 public:
  ScaleNorm(int64_t channels, double eps) : Cloneable("ScaleNorm"), eps_(eps) {
    gain_ = register_parameter("gain", at::full({1}, std::sqrt(static_cast<double>(channels))));
  }
  // It looks at one token after the other: padding changes nothing, and there is no state.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& = {}) override {
    const torch::Tensor wide = x.to(c10::promoteTypes(x.scalar_type(), at::kFloat));
    return (wide * at::rsqrt(wide.square().sum(-1, /*keepdim=*/true) + eps_) * gain_).to(x.scalar_type());
  }

 private:
  double eps_;
  cachet::nn::RegisteredTensor gain_;
};

inline constinit const cachet::nn::NormKind<ScaleNormOptions> ScaleNormOptions::kKind{
    .name = "scale",
    .read =
        [](const cachet::config::View& table) {
          return ScaleNormOptions{table.real("eps", ScaleNormOptions{}.eps, cachet::nn::NormRanges::kEps)};
        },
    .make = [](const ScaleNormOptions& o, int64_t channels, double) -> std::shared_ptr<cachet::nn::Norm> {
      return std::make_shared<ScaleNorm>(channels, o.eps);
    },
    .statistics = cachet::nn::NormStatistics::token,
    .exports = cachet::nn::Export::traced};
