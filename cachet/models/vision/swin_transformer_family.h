#pragma once

#include <string>
#include <vector>

#include "cachet/models/vision/swin_transformer_options.h"

namespace cachet::models {

struct SwinTransformerModel {
  std::string name;
  SwinTransformerOptions options;
};

/// swin_{tiny,small,base}_patch4_window7_224.
const std::vector<SwinTransformerModel>& swin_transformer_family();

}  // namespace cachet::models
