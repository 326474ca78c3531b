#pragma once

#include <memory>
#include <vector>

#include "cachet/models/image_classifier.h"
#include "cachet/models/vision/feature_pyramid.h"
#include "cachet/models/vision/pyramid_stage.h"
#include "cachet/models/vision/pyramid_vision_transformer_options.h"

namespace cachet::models {

/// PVT and PVT v2 under timm's parameter names of the second, which serve the first too: patch_embed,
/// stages.{i}.{downsample, pos_embed, cls_token, blocks, norm}, norm (v1), head. Takes images of any size that the
/// stages divide (v1: position tables are interpolated), or of any size at all (v2).
class PyramidVisionTransformer : public ImageClassifier, public FeaturePyramid {
 public:
  explicit PyramidVisionTransformer(const PyramidVisionTransformerOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;
  ImageShape image_shape() const override { return options_.image; }
  int64_t classes() const override { return options_.classes; }

  /// Tokens behind each stage (v2: and its norm), the last with the class token where there is one.
  std::vector<GridTokens> stage_tokens(const torch::Tensor& images) { return run(images, ClassToken::present); }

  /// The maps behind each stage (v2: and its norm). The class token of v1 takes no part, as in the published detectors.
  std::vector<torch::Tensor> features(const torch::Tensor& images) override;
  std::vector<int64_t> feature_channels() const override;
  std::vector<int64_t> feature_strides() const override;

 private:
  std::vector<GridTokens> run(const torch::Tensor& images, ClassToken class_token);

  PyramidVisionTransformerOptions options_;
  std::shared_ptr<PatchEmbedding> patch_embed_;
  std::vector<std::shared_ptr<PyramidStage>> stages_;
  std::shared_ptr<nn::Norm> norm_;
  std::shared_ptr<nn::Linear> head_;
};

}  // namespace cachet::models
