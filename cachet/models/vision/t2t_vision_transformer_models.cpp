#include "cachet/models/registered_model.h"
#include "cachet/models/vision/t2t_vision_transformer.h"

namespace cachet::models {
namespace {

RegisteredModel t2t(const char* name, TokenAttention attention, int64_t embed_dim, int64_t depth, int64_t num_heads) {
  T2tVisionTransformerOptions o;
  o.token_attention = attention;
  o.embed_dim = embed_dim;
  o.depth = depth;
  o.num_heads = num_heads;
  return classifier_member<T2tVisionTransformer>(name, o, read_t2t_vision_transformer_options);
}

}  // namespace

std::vector<RegisteredModel> t2t_vision_transformer_models() {
  using enum TokenAttention;
  return {t2t("t2t_vit_14", performer, 384, 14, 6),     t2t("t2t_vit_19", performer, 448, 19, 7),
          t2t("t2t_vit_24", performer, 512, 24, 8),     t2t("t2t_vit_t_14", transformer, 384, 14, 6),
          t2t("t2t_vit_t_19", transformer, 448, 19, 7), t2t("t2t_vit_t_24", transformer, 512, 24, 8)};
}

}  // namespace cachet::models
