#pragma once

#include <memory>
#include <vector>

#include "cachet/models/image_classifier.h"
#include "cachet/models/vision/feature_pyramid.h"
#include "cachet/models/vision/patch_embedding.h"
#include "cachet/models/vision/swin_stage.h"
#include "cachet/models/vision/swin_transformer_options.h"

namespace cachet::models {

/// Swin Transformer under timm's parameter names: patch_embed, layers.{i}.{downsample, blocks}, norm, head.fc; without
/// classes norm{i} of each stage instead. Takes images of any size: zeros fill the last patch, windows and merged
/// patches.
class SwinTransformer : public ImageClassifier, public FeaturePyramid {
 public:
  explicit SwinTransformer(const SwinTransformerOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;
  ImageShape image_shape() const override { return options_.image; }
  int64_t classes() const override { return options_.classes; }

  /// The maps behind each stage, normed where the model has no classes.
  std::vector<torch::Tensor> features(const torch::Tensor& images) override;
  std::vector<int64_t> feature_channels() const override;
  std::vector<int64_t> feature_strides() const override;

 private:
  std::vector<GridTokens> run(const torch::Tensor& images);

  SwinTransformerOptions options_;
  std::shared_ptr<PatchEmbedding> patch_embed_;
  std::vector<std::shared_ptr<SwinStage>> layers_;
  std::vector<std::shared_ptr<nn::Norm>> feature_norms_;
  std::shared_ptr<nn::Norm> norm_;
  std::shared_ptr<nn::Linear> fc_;
};

}  // namespace cachet::models
