#include "cachet/models/registered_model.h"
#include "cachet/models/vision/vision_transformer.h"

namespace cachet::models {
namespace {

RegisteredModel vit(const char* name, int64_t embed_dim, int64_t num_heads, bool distilled = false) {
  VisionTransformerOptions o;
  o.embed_dim = embed_dim;
  o.num_heads = num_heads;
  o.distilled = distilled;
  return classifier_member<VisionTransformer>(name, o, read_vision_transformer_options);
}

}  // namespace

// Twelve blocks, patches of 16, images of 224 x 224.
std::vector<RegisteredModel> vision_transformer_models() {
  return {vit("vit_tiny_patch16_224", 192, 3),
          vit("vit_small_patch16_224", 384, 6),
          vit("vit_base_patch16_224", 768, 12),
          vit("deit_tiny_patch16_224", 192, 3),
          vit("deit_small_patch16_224", 384, 6),
          vit("deit_base_patch16_224", 768, 12),
          vit("deit_tiny_distilled_patch16_224", 192, 3, true),
          vit("deit_small_distilled_patch16_224", 384, 6, true),
          vit("deit_base_distilled_patch16_224", 768, 12, true)};
}

}  // namespace cachet::models
