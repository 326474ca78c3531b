#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/models/detection/heads/feature_pyramid_network.h"

namespace cachet::models {

/// Returns the strides of a neck's levels: the strides of the used backbone stages, then doubled at each further level.
std::vector<int64_t> level_strides(const std::vector<int64_t>& backbone, const FpnOptions& neck);

std::string strides_text(const std::vector<int64_t>& strides);  // "4, 8, 16"

/// Throws c10::Error unless the anchors' strides equal the strides of the neck's levels.
void check_level_strides(const std::vector<int64_t>& backbone, const FpnOptions& neck,
                         const std::vector<int64_t>& anchors);

}  // namespace cachet::models
