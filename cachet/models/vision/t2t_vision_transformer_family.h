#pragma once

#include <string>
#include <vector>

#include "cachet/models/vision/t2t_vision_transformer_options.h"

namespace cachet::models {

struct T2tVisionTransformerModel {
  std::string name;
  T2tVisionTransformerOptions options;
};

/// t2t_vit_{14,19,24} with the token performer and t2t_vit_t_{14,19,24} with the token transformer.
const std::vector<T2tVisionTransformerModel>& t2t_vision_transformer_family();

}  // namespace cachet::models
