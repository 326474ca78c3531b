#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "cachet/models/detection/boxes/box_sampling.h"
#include "cachet/models/detection/heads/mask_targets.h"
#include "cachet/models/detection/object_detector.h"
#include "tests/support/small_models.h"

namespace cachet::test {

/// Registered detectors of three classes, made small: one of each kind and backbone.
inline const std::vector<SmallModel>& small_detectors() {
  const Settings common{"classes=3", "image_size=64", "neck.out_channels=8"};
  const auto with = [](Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  const Settings pvt = with(common, {"embed_dims=[8, 16, 16, 32]", "depths=[1, 1, 1, 1]", "num_heads=[1, 2, 2, 4]",
                                     "mlp_ratios=[1, 1, 1, 1]"});
  const Settings swin =
      with(common, {"embed_dim=8", "depths=[2, 2, 1, 1]", "num_heads=[1, 2, 2, 4]", "window_size=4", "mlp_ratio=1"});
  const Settings regions{
      "rpn_head.feat_channels=8", "rpn_head.proposals.max_per_img=40",     "rpn_head.test_proposals.max_per_img=40",
      "roi_head.sampler.num=16",  "roi_head.bbox_head.fc_out_channels=12", "test.max_per_img=10"};
  const Settings retina{"bbox_head.feat_channels=8", "bbox_head.stacked_convs=1"};
  static const std::vector<SmallModel> models{
      {"mask_rcnn_pvt_tiny_fpn", with(pvt, with(regions, {"roi_head.mask_head.conv_out_channels=8"}))},
      {"faster_rcnn_swin_t_fpn", with(swin, regions)},
      {"retinanet_pvt_v2_b0_fpn", with(pvt, retina)},
  };
  return models;
}

inline std::shared_ptr<models::ObjectDetector> built_detector(const SmallModel& small, const Settings& plug_ins = {}) {
  return std::dynamic_pointer_cast<models::ObjectDetector>(built(small, plug_ins));
}

/// Two synthetic images of one batch, the second smaller and without objects, and the first's objects.
inline models::DetectionBatch synthetic_batch(at::ScalarType type = at::kFloat) {
  const auto place = [](int64_t height, int64_t width, int64_t padded_width) {
    models::DetectionImage image;
    image.original = {2 * height, 2 * width};
    image.resized = {height, width};
    image.padded = {64, padded_width};
    image.scale = {0.5, 0.5, 0.5, 0.5};
    return image;
  };
  models::DetectionBatch batch{at::randn({2, 3, 64, 96}, type), {place(60, 90, 96), place(64, 50, 64)}, {}, {}};
  const at::Tensor boxes = at::tensor(std::vector<double>{4, 6, 40, 50, 30, 10, 80, 30}, at::kDouble).view({2, 4});
  at::Tensor bitmaps = at::zeros({2, 60, 90}, at::kBool);
  bitmaps[0].narrow(0, 6, 44).narrow(1, 4, 36).fill_(true);
  bitmaps[1].narrow(0, 10, 20).narrow(1, 30, 50).fill_(true);
  batch.targets.push_back(
      {boxes.to(type), at::tensor(std::vector<int64_t>{0, 2}, at::kLong), {}, models::bitmap_mask_targets(bitmaps)});
  batch.targets.push_back({at::zeros({0, 4}, type),
                           at::zeros({0}, at::kLong),
                           {},
                           models::bitmap_mask_targets(at::zeros({0, 64, 50}, at::kBool))});
  batch.priorities = models::counted_priorities(1, 2, {7, 9});
  return batch;
}

}  // namespace cachet::test
