#pragma once

#include <memory>
#include <vector>

#include "cachet/models/language/classification_head.h"
#include "cachet/models/language/long_range_options.h"
#include "cachet/nn/base/memoized.h"
#include "cachet/nn/norm/folding.h"

namespace cachet::models {

/// The encoder of the Long Range Arena, with a head. Both sequences of a pair pass through the same encoder, one after
/// the other. Parts: token_embed, cls_token, pos_embed (learned positions), blocks, norm, head.
///
/// Initial weights are the arena's: Glorot-uniform linear layers, N(0, 1) token embeddings, class token 0.
class LongRangeTransformer : public nn::Cloneable<LongRangeTransformer, SequenceClassifier>, public nn::Foldable {
 public:
  explicit LongRangeTransformer(const LongRangeOptions& options);

  /// Returns logits. Throws c10::Error if a sequence is too long, or if `second` is missing or not expected.
  torch::Tensor forward(const Sequences& first, const Sequences& second) override;
  SequenceShape sequence_shape() const override { return options_.sequence; }
  int64_t classes() const override { return options_.classes; }
  /// Returns the NormFold that merges the last norm into the head. If the head reads products of two sequences, the
  /// norm cannot be merged.
  std::vector<nn::NormFold> norm_folds() override;

  /// Returns the features (B, embed_dim) of a batch of sequences, which are the input of the classification head.
  torch::Tensor encode(const Sequences& sequences);

 private:
  torch::Tensor embed(const torch::Tensor& ids);
  torch::Tensor pool(const torch::Tensor& x, const torch::Tensor& padding) const;

  LongRangeOptions options_;
  nn::RegisteredTensor token_embed_, cls_token_, pos_embed_;
  nn::Memoized<torch::Tensor> sinusoids_;
  std::vector<nn::Submodule<nn::TransformerBlock>> blocks_;
  nn::Submodule<nn::Norm> norm_;
  nn::Submodule<ClassificationHead> head_;
};

}  // namespace cachet::models
