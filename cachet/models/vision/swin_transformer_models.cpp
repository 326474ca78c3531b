#include <array>

#include "cachet/models/registered_model.h"
#include "cachet/models/vision/swin_transformer.h"

namespace cachet::models {
namespace {

RegisteredModel swin(const char* name, int64_t embed_dim, const std::array<int64_t, 4>& depths,
                     const std::array<int64_t, 4>& heads, WindowFit fit = WindowFit::shrink) {
  SwinTransformerOptions o;
  o.embed_dim = embed_dim;
  o.window_fit = fit;
  for (size_t i = 0; i < 4; ++i) o.stages.push_back({depths[i], heads[i]});
  return pyramid_member<SwinTransformer, SwinTransformerClassifier>(name, o, read_swin_transformer_options);
}

}  // namespace

std::vector<RegisteredModel> swin_transformer_models() {
  return {swin("swin_tiny_patch4_window7_224", 96, {2, 2, 6, 2}, {3, 6, 12, 24}),
          swin("swin_small_patch4_window7_224", 96, {2, 2, 18, 2}, {3, 6, 12, 24}),
          swin("swin_base_patch4_window7_224", 128, {2, 2, 18, 2}, {4, 8, 16, 32})};
}

std::vector<RegisteredModel> swin_detection_backbones() {
  return {swin("swin_t", 96, {2, 2, 6, 2}, {3, 6, 12, 24}, WindowFit::pad),
          swin("swin_s", 96, {2, 2, 18, 2}, {3, 6, 12, 24}, WindowFit::pad),
          swin("swin_b", 128, {2, 2, 18, 2}, {4, 8, 16, 32}, WindowFit::pad)};
}

}  // namespace cachet::models
