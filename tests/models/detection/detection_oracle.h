#pragma once

#include <string>
#include <vector>

#include "cachet/geometry/run_lengths.h"
#include "cachet/models/detection/boxes/box_sampling.h"
#include "cachet/models/detection/heads/mask_targets.h"
#include "cachet/models/detection/heads/rpn_head.h"
#include "tests/support/oracle.h"

namespace cachet::test {

/// Indices and flags: the same, whatever their type.
inline void expect_exact(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  EXPECT_TRUE(at::equal(actual.to(expected.scalar_type()), expected)) << what;
}

/// A mask {"size": [h, w], "counts": "…"} in COCO's compressed run lengths -> (h, w) bool.
inline at::Tensor decoded_mask(const nlohmann::json& rle) {
  const geometry::Size size{rle.at("size").at(0), rle.at("size").at(1)};
  const auto pixels = geometry::RunLengths::from_text(size, rle.at("counts").get<std::string>()).bitmap();
  return at::tensor(pixels, at::kByte).view({size.height, size.width}).to(at::kBool);
}

inline models::ImageSize size_of(const nlohmann::json& sides) { return {sides.at(0), sides.at(1)}; }

inline models::AnchorOptions anchor_options_of(const nlohmann::json& generator) {
  models::AnchorOptions o;
  o.strides = generator.at("strides").get<std::vector<int64_t>>();
  o.ratios = generator.at("ratios").get<std::vector<double>>();
  o.scales = generator.contains("scales")
                 ? generator["scales"].get<std::vector<double>>()
                 : models::AnchorOptions::octave(generator.at("octave_base_scale"), generator.at("scales_per_octave"));
  return o;
}

inline models::AssignmentOptions assignment_options_of(const nlohmann::json& o) {
  return {.positive_iou = o.at("pos_iou_thr"),
          .negative_iou = o.at("neg_iou_thr"),
          .least_positive_iou = o.at("min_pos_iou"),
          .match_low_quality = o.at("match_low_quality").get<bool>(),
          .all_best = o.value("gt_max_assign_all", true),
          .ignored_share = o.value("ignore_iof_thr", -1.0),
          .ignored_by_box = o.value("ignore_wrt_candidates", true)};
}

inline models::SampleOptions sample_options_of(const nlohmann::json& o, bool add_objects) {
  return {.count = o.at("num"),
          .positive_share = o.at("pos_fraction"),
          .negatives_per_positive = o.value("neg_pos_ub", int64_t{-1}),
          .add_objects = add_objects};
}

inline models::ProposalLimits proposal_limits_of(const nlohmann::json& o) {
  return {o.at("nms_pre"), o.at("max_per_img"), o.at("iou_threshold"), o.at("min_bbox_size")};
}

inline models::DetectionLimits detection_limits_of(const nlohmann::json& o) {
  return {o.at("score_thr"), o.at("iou_threshold"), o.at("max_per_img")};
}

/// Of a fixture with whole images.
inline std::vector<models::DetectionImage> image_sizes_of(const Oracle& oracle) {
  std::vector<models::DetectionImage> sizes;
  for (const auto& image : oracle.metadata.at("images")) {
    models::DetectionImage size{
        size_of(image.at("ori_shape")), size_of(image.at("img_shape")), size_of(image.at("pad_shape")), {}};
    for (size_t i = 0; i < 4; ++i) size.scale[i] = image.at("scale_factor").at(i);
    sizes.push_back(size);
  }
  return sizes;
}

/// Targets and priorities below a prefix ("step0."). A detector's second stage has priorities of its own.
inline models::DetectionBatch batch_of(const Oracle& oracle, const at::Tensor& images, const std::string& prefix) {
  models::DetectionBatch batch{images, image_sizes_of(oracle), {}, {}};
  for (size_t i = 0; i < batch.sizes.size(); ++i) {
    const std::string image = prefix + "image" + std::to_string(i) + ".";
    models::DetectionTarget target{oracle[image + "gt_boxes"], oracle[image + "gt_labels"], {}, {}};
    if (oracle.has(image + "gt_masks")) target.masks = models::bitmap_mask_targets(oracle[image + "gt_masks"]);
    batch.targets.push_back(target);
  }
  batch.priorities = [&oracle, prefix](models::SamplingPlace place, size_t image, int64_t count) {
    const std::string key = prefix + "image" + std::to_string(image) +
                            (place == models::SamplingPlace::anchors ? ".priority" : ".rcnn.priority");
    EXPECT_EQ(oracle[key].size(0), count) << key;
    return oracle[key];
  };
  return batch;
}

inline at::Tensor with_scores(const at::Tensor& boxes, const at::Tensor& scores) {
  return at::cat({boxes, scores.unsqueeze(1)}, 1);
}

}  // namespace cachet::test
