#pragma once

#include <string>
#include <vector>

#include "cachet/models/vision/pyramid_vision_transformer_options.h"

namespace cachet::models {

struct PyramidVisionTransformerModel {
  std::string name;
  PyramidVisionTransformerOptions options;
};

/// pvt_tiny … pvt_large, pvt_v2_b0 … pvt_v2_b5 and pvt_v2_b2_li, for images of 224 x 224.
const std::vector<PyramidVisionTransformerModel>& pyramid_vision_transformer_family();

}  // namespace cachet::models
