#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cachet/nn/norm/norm_options.h"

namespace cachet::test {

/// Every norm with its defaults, under the name of a recipe.
inline const std::vector<std::pair<std::string, nn::NormOptions>>& all_norms() {
  static const std::vector<std::pair<std::string, nn::NormOptions>> norms{
      {"layer", nn::LayerNormOptions{}},
      {"rms", nn::RMSNormOptions{}},
      {"batch", nn::BatchNormOptions{}},
      {"un", nn::UnifiedNormOptions{}},
      {"un_channel", nn::UnifiedNormOptions{.settings = {.threshold = ops::OutlierThreshold::channel}}},
      {"mabn", nn::MovingAverageBatchNormOptions{}},
      {"pn", nn::PowerNormOptions{}},
      {"pn_star", nn::PowerNormOptions{{}, false}},
      {"none", nn::NoNormOptions{}}};
  return norms;
}

}  // namespace cachet::test
