#include "cachet/nn/norm/no_norm.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace cachet::nn {

constinit const NormKind<NoNormOptions> NoNormOptions::kKind{
    .name = "none",
    .read = [](const config::View&) { return NoNormOptions{}; },
    .make = [](const NoNormOptions&, int64_t channels, double) -> std::shared_ptr<Norm> {
      return std::make_shared<NoNorm>(channels);
    },
    .statistics = NormStatistics::none,
    .exports = Export::traced};

std::optional<Affine> NoNorm::inference_affine() const { return Affine{at::ones({channels_}), at::zeros({channels_})}; }

}  // namespace cachet::nn
