#include "cachet/models/vision/vision_transformer_family.h"

#include <array>

namespace cachet::models {
namespace {

constexpr std::array<VisionTransformerModel, 9> kFamily{{
    {"vit_tiny_patch16_224", 192, 3},
    {"vit_small_patch16_224", 384, 6},
    {"vit_base_patch16_224", 768, 12},
    {"deit_tiny_patch16_224", 192, 3},
    {"deit_small_patch16_224", 384, 6},
    {"deit_base_patch16_224", 768, 12},
    {"deit_tiny_distilled_patch16_224", 192, 3, true},
    {"deit_small_distilled_patch16_224", 384, 6, true},
    {"deit_base_distilled_patch16_224", 768, 12, true},
}};

}  // namespace

VisionTransformerOptions VisionTransformerModel::options() const {
  VisionTransformerOptions o;
  o.embed_dim = embed_dim;
  o.num_heads = num_heads;
  o.distilled = distilled;
  return o;
}

std::span<const VisionTransformerModel> vision_transformer_family() { return kFamily; }

}  // namespace cachet::models
