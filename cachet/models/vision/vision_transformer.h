#pragma once

#include <vector>

#include "cachet/models/vision/image_classifier.h"
#include "cachet/models/vision/patch_embedding.h"
#include "cachet/models/vision/vision_transformer_options.h"

namespace cachet::models {

/// The vision transformer with timm's parameter names: cls_token, dist_token, pos_embed, patch_embed, blocks, norm (or
/// fc_norm after mean pooling), head, head_dist. The model takes images of any size that is divisible by patch_size.
/// The position table is interpolated to the image's grid.
class VisionTransformer : public nn::Cloneable<VisionTransformer, ImageClassifier>, public nn::Foldable {
 public:
  explicit VisionTransformer(const VisionTransformerOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;
  ImageShape image_shape() const override { return options_.image; }
  int64_t classes() const override { return options_.classes; }
  /// Folds the last norm into the heads.
  std::vector<nn::NormFold> norm_folds() override;

  /// Returns the tokens after the last block and (with token pooling) the norm: (B, class tokens + grid, D).
  torch::Tensor tokens(const torch::Tensor& images);

 private:
  torch::Tensor embed(const torch::Tensor& images, const nn::Grid& grid);

  VisionTransformerOptions options_;
  nn::RegisteredTensor cls_token_, dist_token_, pos_embed_;
  nn::Submodule<PatchEmbedding> patch_embed_;
  std::vector<nn::Submodule<nn::TransformerBlock>> blocks_;
  nn::Submodule<nn::Norm> norm_;
  nn::Submodule<nn::Linear> head_, head_dist_;
};

}  // namespace cachet::models
