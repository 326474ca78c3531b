#pragma once

#include <memory>
#include <vector>

#include "cachet/models/vision/image_classifier.h"
#include "cachet/models/vision/t2t_vision_transformer_options.h"
#include "cachet/models/vision/tokens_to_token.h"
#include "cachet/nn/base/memoized.h"

namespace cachet::models {

/// The T2T vision transformer (T2T-ViT). The model has the parts tokens_to_token, cls_token, blocks, norm and head.
/// Positions are sinusoids without parameters, so images may have any size that gives at least one token.
class T2tVisionTransformer : public nn::Cloneable<T2tVisionTransformer, ImageClassifier>, public nn::Foldable {
 public:
  explicit T2tVisionTransformer(const T2tVisionTransformerOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;
  ImageShape image_shape() const override { return options_.image; }
  int64_t classes() const override { return options_.classes; }
  /// Folds the last norm into the head.
  std::vector<nn::NormFold> norm_folds() override;

  /// Returns the tokens after the last block and the norm: (B, 1 + grid, D).
  torch::Tensor tokens(const torch::Tensor& images);

 private:
  T2tVisionTransformerOptions options_;
  nn::Submodule<TokensToToken> tokens_to_token_;
  nn::RegisteredTensor cls_token_;
  nn::Memoized<torch::Tensor> positions_;
  std::vector<nn::Submodule<nn::TransformerBlock>> blocks_;
  nn::Submodule<nn::Norm> norm_;
  nn::Submodule<nn::Linear> head_;
};

}  // namespace cachet::models
