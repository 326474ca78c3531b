#pragma once

#include <span>
#include <string_view>

#include "cachet/models/vision/vision_transformer_options.h"

namespace cachet::models {

/// A named member of the family.
struct VisionTransformerModel {
  std::string_view name;
  int64_t embed_dim, num_heads;
  bool distilled = false;

  VisionTransformerOptions options() const;
};

/// ViT and DeiT under timm's names: twelve blocks, patches of 16, images of 224 x 224.
std::span<const VisionTransformerModel> vision_transformer_family();

}  // namespace cachet::models
