#include "cachet/tasks/weights/published_weights.h"

#include <algorithm>
#include <array>

namespace cachet::tasks {
namespace {

/// What follows the name of a model in timm's name of the weights that it takes for this name.
struct TimmTag {
  std::string_view model, tag;
};
constexpr std::array<TimmTag, 19> kTimmTags{{{"deit_base_distilled_patch16_224", "fb_in1k"},
                                             {"deit_base_patch16_224", "fb_in1k"},
                                             {"deit_small_distilled_patch16_224", "fb_in1k"},
                                             {"deit_small_patch16_224", "fb_in1k"},
                                             {"deit_tiny_distilled_patch16_224", "fb_in1k"},
                                             {"deit_tiny_patch16_224", "fb_in1k"},
                                             {"pvt_v2_b0", "in1k"},
                                             {"pvt_v2_b1", "in1k"},
                                             {"pvt_v2_b2", "in1k"},
                                             {"pvt_v2_b2_li", "in1k"},
                                             {"pvt_v2_b3", "in1k"},
                                             {"pvt_v2_b4", "in1k"},
                                             {"pvt_v2_b5", "in1k"},
                                             {"swin_base_patch4_window7_224", "ms_in1k"},
                                             {"swin_small_patch4_window7_224", "ms_in1k"},
                                             {"swin_tiny_patch4_window7_224", "ms_in1k"},
                                             {"vit_base_patch16_224", "augreg_in21k_ft_in1k"},
                                             {"vit_small_patch16_224", "augreg_in21k_ft_in1k"},
                                             {"vit_tiny_patch16_224", "augreg_in21k_ft_in1k"}}};

/// Repositories of the authors, by the beginnings of names.
struct AuthorsCode {
  std::string_view begin, code;
};
constexpr std::array<AuthorsCode, 5> kAuthorsCodes{{{"pvt_tiny", "whai362/PVT"},
                                                    {"pvt_small", "whai362/PVT"},
                                                    {"pvt_medium", "whai362/PVT"},
                                                    {"pvt_large", "whai362/PVT"},
                                                    {"t2t_vit_", "yitu-opensource/T2T-ViT"}}};

}  // namespace

std::optional<PublishedWeights> published_weights(std::string_view model) {
  if (const auto* timm = std::ranges::find(kTimmTags, model, &TimmTag::model); timm != kTimmTags.end())
    return PublishedWeights{"hf:timm/" + std::string(model) + "." + std::string(timm->tag), "timm"};
  const auto* code =
      std::ranges::find_if(kAuthorsCodes, [&](const AuthorsCode& each) { return model.starts_with(each.begin); });
  if (code == kAuthorsCodes.end()) return std::nullopt;
  return PublishedWeights{"", std::string(code->code)};
}

}  // namespace cachet::tasks
