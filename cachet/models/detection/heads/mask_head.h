#pragma once

#include <vector>

#include "cachet/models/detection/heads/head_convolution.h"

namespace cachet::config {
class View;
}

namespace cachet::models {

struct MaskHeadOptions {
  int64_t classes = 80;
  int64_t convolutions = 4;
  int64_t channels = 256;
  double loss_weight = 1;

  /// Reads table `mask_head`: num_convs, conv_out_channels, loss_mask.loss_weight.
  static MaskHeadOptions read(const config::View& table, MaskHeadOptions defaults);
};

/// The head that segments the object of a region (He et al., arXiv 1703.06870, Fig. 4 right): convolutions, a
/// transposed convolution that doubles the sides, and a score for each class. Parts: convs, upsample, conv_logits.
class MaskHead : public nn::Cloneable<MaskHead> {
 public:
  MaskHead(const MaskHeadOptions& options, int64_t inputs);

  at::Tensor forward(const at::Tensor& regions) const;  // (n, C, s, s) -> (n, classes, 2·s, 2·s) logits
  /// Returns the mean cross-entropy of masks of the labelled classes: targets (n, 2·s, 2·s), labels (n). 0 if n = 0.
  at::Tensor loss(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& labels) const;
  /// Returns the mask probabilities (n, 2·s, 2·s) of each region's class.
  static at::Tensor scores(const at::Tensor& logits, const at::Tensor& labels);

 private:
  MaskHeadOptions options_;
  std::vector<nn::Submodule<NamedConvolution>> convolutions_;
  nn::Submodule<nn::ModuleGroup> upsample_;
  nn::RegisteredTensor upsample_weight_, upsample_bias_;  // (C, C, 2, 2), (C)
  nn::Submodule<Convolution> logits_;
};

}  // namespace cachet::models
