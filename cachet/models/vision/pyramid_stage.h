#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "cachet/models/vision/patch_embedding.h"
#include "cachet/models/vision/pyramid_vision_transformer_options.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// Whether a class token precedes the patches.
enum class ClassToken { absent, present };

/// The position of a stage in the model, and the values that the stage gets from the model.
struct PyramidStagePlace {
  nn::Grid grid;                                   // grid of the stage's tokens at the model's own image size
  ClassToken class_token = ClassToken::absent;     // whether this stage has a class token (v1, last stage)
  std::shared_ptr<PatchEmbedding> downsample;      // patches of the previous stage; null in the first (patch_embed)
  int64_t blocks_before = 0, blocks_of_model = 0;  // numbers of blocks before this stage and in the model
};

/// A stage of a pyramid: patches of the previous stage's map, positions (v1), blocks, norm (v2).
/// A stage has the parts downsample, pos_embed, cls_token, blocks and norm.
class PyramidStage : public nn::Cloneable<PyramidStage> {
 public:
  PyramidStage(const PyramidVisionTransformerOptions& model, const PyramidStageOptions& options,
               const PyramidStagePlace& place);

  /// Makes patches of the previous stage's map (B, C, H, W).
  GridTokens embed(const torch::Tensor& map) { return downsample_->forward(map); }
  /// tokens (B, H·W, D) -> the same shape, or with the class token as an additional first token.
  torch::Tensor forward(const GridTokens& patches, ClassToken class_token);

  bool has_norm() const { return norm_ != nullptr; }
  /// Return how the last norm is folded into the layer that reads this stage, or the `reason` why the norm is not
  /// folded.
  nn::NormFold fold_norm(const nn::FoldAffine& absorb) { return nn::fold_into_reader(*this, "norm", norm_, absorb); }
  nn::NormFold leave_norm(const std::string& reason) { return nn::leave_norm(*this, "norm", norm_, reason); }

 private:
  torch::Tensor add_positions(const GridTokens& patches, bool with_class_token) const;

  nn::Grid grid_;
  double dropout_;
  nn::Submodule<PatchEmbedding> downsample_;
  nn::RegisteredTensor pos_embed_, cls_token_;
  bool class_position_ = false;  // whether the first row of pos_embed is for the class token
  std::vector<nn::Submodule<nn::TransformerBlock>> blocks_;
  nn::Submodule<nn::Norm> norm_;
};

}  // namespace cachet::models
