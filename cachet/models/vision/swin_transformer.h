#pragma once

#include <memory>
#include <vector>

#include "cachet/models/vision/feature_pyramid.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/models/vision/patch_embedding.h"
#include "cachet/models/vision/swin_stage.h"
#include "cachet/models/vision/swin_transformer_options.h"

namespace cachet::models {

/// The backbone of Swin Transformer with timm's parameter names: patch_embed, layers.{i}.{downsample, blocks}, and
/// norm{i} after each stage. Takes images of any size: zeros fill incomplete patches, windows and merged patches.
class SwinTransformer : public nn::Cloneable<SwinTransformer, FeaturePyramid>, public nn::Foldable {
 public:
  explicit SwinTransformer(const SwinTransformerOptions& options) : SwinTransformer(options, StageNorms::present) {}

  ImageShape image_shape() const override { return options_.image; }

  /// Returns each stage's feature map after the stage's norm (in the classifier, without a norm).
  std::vector<torch::Tensor> features(const torch::Tensor& images) override;
  std::vector<int64_t> feature_channels() const override;
  std::vector<int64_t> feature_strides() const override;
  /// Does not fold the norms of the maps, because the layers that read the maps are not part of the backbone.
  std::vector<nn::NormFold> norm_folds() override;

 protected:
  enum class StageNorms { absent, present };
  SwinTransformer(const SwinTransformerOptions& options, StageNorms norms);

  const SwinTransformerOptions& options() const { return options_; }
  /// Returns the tokens after each stage, before the stage's norm.
  std::vector<GridTokens> run(const torch::Tensor& images);

 private:
  SwinTransformerOptions options_;
  nn::Submodule<PatchEmbedding> patch_embed_;
  std::vector<nn::Submodule<SwinStage>> layers_;
  std::vector<nn::Submodule<nn::Norm>> feature_norms_;
};

/// The backbone, a norm after the last stage, and a linear layer on the mean of the stage's tokens. The part norm
/// replaces the parts norm{i} of the backbone, and head.fc is the linear layer.
class SwinTransformerClassifier : public nn::Cloneable<SwinTransformerClassifier, SwinTransformer>,
                                  public ImageClassifier {
 public:
  SwinTransformerClassifier(const SwinTransformerOptions& options, int64_t classes);

  torch::Tensor forward(const torch::Tensor& images) override;
  int64_t classes() const override { return classes_; }
  /// Folds the last norm into the head. The fold is possible although the mean over tokens lies between the norm and
  /// the head, because the norm is an affine map.
  std::vector<nn::NormFold> norm_folds() override;
  Trial trial(int64_t batch, const torch::TensorOptions& options) override {
    return ImageClassifier::trial(batch, options);
  }

 private:
  int64_t classes_;
  nn::Submodule<nn::Norm> norm_;
  nn::Submodule<nn::Linear> fc_;
};

}  // namespace cachet::models
