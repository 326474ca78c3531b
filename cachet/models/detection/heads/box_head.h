#pragma once

#include <vector>

#include "cachet/models/detection/boxes/box_coder.h"
#include "cachet/models/detection/boxes/box_losses.h"
#include "cachet/models/detection/boxes/box_sampling.h"
#include "cachet/models/detection/boxes/multiclass_nms.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::models {

struct BoxHeadOptions {
  int64_t classes = 80;
  int64_t channels = 1024;       // width of both shared layers
  bool one_box_for_all = false;  // whether a region has one box for all classes (true) or one box for each class
  BoxCoderOptions coder{.deviations = {0.1, 0.1, 0.2, 0.2}};
  BoxLossOptions box_loss{};
  double class_loss_weight = 1;

  /// Reads table `bbox_head`: fc_out_channels, reg_class_agnostic, loss_cls.loss_weight, tables coder and loss_bbox.
  static BoxHeadOptions read(const config::View& table, BoxHeadOptions defaults);
};

/// Training targets of regions: the samples of all images, concatenated; the positives of each image come first.
struct BoxTargets {
  at::Tensor labels;     // (n) int64; `classes` is the background
  at::Tensor positives;  // (p) int64: indices of the positive samples
  at::Tensor deltas;     // (p, 4)
};
BoxTargets box_targets(const std::vector<BoxSample>& samples, const std::vector<at::Tensor>& labels,
                       const BoxHeadOptions& options);

struct BoxOutputs {
  at::Tensor scores;  // (n, classes + 1) logits
  at::Tensor deltas;  // (n, 4·classes), or (n, 4)
};

struct BoxHeadLosses {
  at::Tensor classes, boxes;
  at::Tensor accuracy;  // fraction of the regions with the right class, in per cent
};

/// Classifies regions and regresses their boxes (Fast R-CNN, arXiv 1504.08083): two shared layers, then one layer for
/// the classes and one for the boxes. Parts: shared_fcs, fc_cls, fc_reg.
class BoxHead : public nn::Cloneable<BoxHead> {
 public:
  /// `inputs`: number of values of a region, channels · side².
  BoxHead(const BoxHeadOptions& options, int64_t inputs);

  BoxOutputs forward(const at::Tensor& regions) const;  // (n, C, side, side)
  BoxHeadLosses losses(const BoxOutputs& outputs, const BoxTargets& targets) const;

  /// Decodes the outputs for regions with boxes (n, 4) of one image. Returns boxes (n, 4·classes) within the image, in
  /// pixels of the original or of the batch (`frame`), and probabilities (n, classes + 1).
  std::pair<at::Tensor, at::Tensor> decode(const at::Tensor& boxes, const BoxOutputs& outputs,
                                           const DetectionImage& place, DetectionFrame frame) const;
  const BoxHeadOptions& options() const { return options_; }

 private:
  BoxHeadOptions options_;
  std::vector<nn::Submodule<nn::Linear>> shared_;
  nn::Submodule<nn::Linear> classes_, boxes_;
};

}  // namespace cachet::models
