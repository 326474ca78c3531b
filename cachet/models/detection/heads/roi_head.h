#pragma once

#include <optional>
#include <vector>

#include "cachet/models/detection/heads/box_head.h"
#include "cachet/models/detection/heads/mask_head.h"
#include "cachet/models/detection/heads/roi_extractor.h"
#include "cachet/models/detection/heads/rpn_head.h"

namespace cachet::models {

/// The options of the masks of detected objects.
struct RoiMaskOptions {
  RoiExtractorOptions extractor{.side = 14};
  MaskHeadOptions head{};
  int64_t side = 28;  // side of a mask
};

struct RoiHeadOptions {
  AssignmentOptions assigner{
      .positive_iou = 0.5, .negative_iou = 0.5, .least_positive_iou = 0.5, .match_low_quality = false};
  SampleOptions sampler{.count = 512, .positive_share = 0.25, .add_objects = true};
  RoiExtractorOptions extractor{};
  BoxHeadOptions box{};
  std::optional<RoiMaskOptions> mask{};
  DetectionLimits limits{};

  /// Reads table `roi_head` (tables assigner, sampler, bbox_roi_extractor, bbox_head; with masks also
  /// mask_roi_extractor and mask_head) and table `test` of the same parent: score_thr, nms_iou_threshold, max_per_img.
  static RoiHeadOptions read(const config::View& table, RoiHeadOptions defaults);
};

struct RoiLosses {
  BoxHeadLosses box;
  at::Tensor mask;  // undefined without masks
};

/// Predicts the class, the box and the mask of each proposal. Parts:
/// bbox_head, mask_head.
class RoiHead : public nn::Cloneable<RoiHead> {
 public:
  RoiHead(const RoiHeadOptions& options, int64_t channels);

  /// Returns the proposals (boxes (n, 4) of each image) that take part in a training step.
  std::vector<BoxSample> samples(const std::vector<at::Tensor>& proposals, const DetectionBatch& batch) const;
  RoiLosses losses(const std::vector<at::Tensor>& levels, const std::vector<BoxSample>& samples,
                   const DetectionBatch& batch) const;
  std::vector<Detections> detections(const std::vector<at::Tensor>& levels, const std::vector<at::Tensor>& proposals,
                                     const std::vector<DetectionImage>& sizes, DetectionFrame frame) const;
  /// Returns the class scores (images · boxes, classes + 1) of the boxes `boxes` (n, 4) on every image.
  at::Tensor box_scores(const std::vector<at::Tensor>& levels, const at::Tensor& boxes) const;
  /// Runs both heads on `count` synthetic boxes for each image, equally many on each level, to measure the heads' cost.
  /// Does not select detections.
  std::vector<at::Tensor> trial(const std::vector<at::Tensor>& levels, int64_t count, int64_t masks) const;

  const RoiHeadOptions& options() const { return options_; }

 private:
  at::Tensor mask_scores(const std::vector<at::Tensor>& levels, const at::Tensor& boxes, const at::Tensor& labels,
                         size_t image) const;

  RoiHeadOptions options_;
  nn::Submodule<BoxHead> box_;
  nn::Submodule<MaskHead> mask_;
};

}  // namespace cachet::models
