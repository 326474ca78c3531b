#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "cachet/models/vision/patch_merging.h"
#include "cachet/models/vision/swin_transformer_options.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// The position of a stage in a Swin Transformer.
struct SwinStagePlace {
  size_t stage = 0;
  nn::Grid grid;                                   // grid of the stage's tokens at the model's own image size
  int64_t blocks_before = 0, blocks_of_model = 0;  // numbers of blocks before this stage and in the model
};

/// A stage of Swin: merged patches of the previous stage, then blocks. Every second block has shifted windows.
/// Parts: downsample, blocks.
class SwinStage : public nn::Cloneable<SwinStage> {
 public:
  SwinStage(const SwinTransformerOptions& model, const SwinStagePlace& place);
  GridTokens forward(GridTokens x);

 private:
  nn::Submodule<PatchMerging> downsample_;
  std::vector<nn::Submodule<nn::TransformerBlock>> blocks_;
};

}  // namespace cachet::models
