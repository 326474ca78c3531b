#pragma once

#include <memory>
#include <vector>

#include "cachet/models/vision/feature_pyramid.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/models/vision/pyramid_stage.h"
#include "cachet/models/vision/pyramid_vision_transformer_options.h"

namespace cachet::models {

/// The backbone of PVT and PVT v2, with the parameter names of timm's PVT v2: patch_embed, stages.{i}.{downsample,
/// pos_embed, blocks, norm}. In v1, the strides must divide the image size, and the position tables are interpolated.
/// v2 takes images of any size.
class PyramidVisionTransformer : public nn::Cloneable<PyramidVisionTransformer, FeaturePyramid>, public nn::Foldable {
 public:
  explicit PyramidVisionTransformer(const PyramidVisionTransformerOptions& options)
      : PyramidVisionTransformer(options, ClassToken::absent) {}

  ImageShape image_shape() const override { return options_.image; }

  /// Returns the map after each stage (v2: after its norm). v1's class token is unused, as in the published detectors.
  std::vector<torch::Tensor> features(const torch::Tensor& images) override;
  std::vector<int64_t> feature_channels() const override;
  std::vector<int64_t> feature_strides() const override;
  /// In v2, does not fold the norms after the stages: a fold would add the norm's bias to the zeros that the next stage
  /// reads beyond the border, and the layers that read the feature maps are not in the backbone.
  std::vector<nn::NormFold> norm_folds() override;

 protected:
  PyramidVisionTransformer(const PyramidVisionTransformerOptions& options, ClassToken class_token);

  const PyramidVisionTransformerOptions& options() const { return options_; }
  /// Returns the reason why the norm at the end of a v2 stage is not folded, for each stage except the last.
  std::vector<nn::NormFold> leave_inner_norms();
  PyramidStage& last_stage() { return *stages_.back(); }
  /// Returns the tokens after each stage (v2: after its norm). With ClassToken::present, the last stage's tokens
  /// include the class token, if the stage has one.
  std::vector<GridTokens> run(const torch::Tensor& images, ClassToken class_token);

 private:
  PyramidVisionTransformerOptions options_;
  nn::Submodule<PatchEmbedding> patch_embed_;
  std::vector<nn::Submodule<PyramidStage>> stages_;
};

/// The backbone with a classification head. The head reads a class token of the last stage after a norm (v1), or the
/// mean of the tokens (v2); a linear layer follows. The classifier has the additional parts stages.{last}.cls_token and
/// norm (v1), and head.
class PyramidVisionTransformerClassifier
    : public nn::Cloneable<PyramidVisionTransformerClassifier, PyramidVisionTransformer>,
      public ImageClassifier {
 public:
  PyramidVisionTransformerClassifier(const PyramidVisionTransformerOptions& options, int64_t classes);

  torch::Tensor forward(const torch::Tensor& images) override;
  int64_t classes() const override { return classes_; }
  /// Folds the last norm into the head. In v2, the fold is possible although the mean over tokens lies between the norm
  /// and the head, because the norm is an affine map.
  std::vector<nn::NormFold> norm_folds() override;
  Trial trial(int64_t batch, const torch::TensorOptions& options) override {
    return ImageClassifier::trial(batch, options);
  }

 private:
  int64_t classes_;
  nn::Submodule<nn::Norm> norm_;
  nn::Submodule<nn::Linear> head_;
};

}  // namespace cachet::models
