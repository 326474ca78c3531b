#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/models/detection/heads/feature_pyramid_network.h"

namespace cachet::models {

/// Returns the strides of a neck's levels: the backbone's from the first used stage on, then doubled for each level.
std::vector<int64_t> level_strides(const std::vector<int64_t>& backbone, const FpnOptions& neck);

std::string strides_text(const std::vector<int64_t>& strides);  // "4, 8, 16"

/// Throws c10::Error unless the anchors' strides are those of these levels.
void check_level_strides(const std::vector<int64_t>& backbone, const FpnOptions& neck,
                         const std::vector<int64_t>& anchors);

}  // namespace cachet::models
