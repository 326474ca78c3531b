#include <gtest/gtest.h>

#include "cachet/models/detection/faster_rcnn.h"
#include "cachet/models/detection/retinanet.h"
#include "cachet/models/registry.h"
#include "cachet/nn/base/initialization.h"

namespace cachet {
namespace {

models::ObjectDetectorPlan plan_of(const std::string& toml) {
  auto document = config::Document::from_text("[model]\n" + toml + "\n", "r.toml");
  auto plan = models::read_object_detector(document.root().table("model"));
  document.finish();
  return plan;
}

TEST(DetectorOptions, NamesAreThoseThatPeopleKnow) {
  using models::Capability;
  const auto names = models::model_names(Capability::object_detector);
  EXPECT_EQ(names.size(), 42u);
  for (const std::string name : {"mask_rcnn_pvt_tiny_fpn", "mask_rcnn_pvt_medium_fpn", "retinanet_pvt_small_fpn",
                                 "retinanet_pvt_v2_b2_li_fpn", "faster_rcnn_swin_t_fpn", "mask_rcnn_swin_b_fpn"}) {
    EXPECT_EQ(models::abilities_of(name), (std::vector{Capability::object_detector})) << name;
    const auto plan = plan_of("name = \"" + name + "\"");
    EXPECT_EQ(plan.name, name);
    EXPECT_EQ(plan.classes, 80) << name;
    EXPECT_EQ(plan.masks, name.starts_with("mask_rcnn")) << name;
  }
  EXPECT_TRUE(models::abilities_of("swin_t").empty()) << "a backbone, no model of its own";
}

// Millions, as PVT's and Swin's authors give them (arXiv 2102.12122, Tables 3 and 4; arXiv 2103.14030, Table 2).
TEST(DetectorOptions, ParametersAreAsManyAsPublished) {
  const nn::WithoutInitialization undrawn;
  const std::vector<std::pair<std::string, double>> published{{"mask_rcnn_pvt_tiny_fpn", 32.9},
                                                              {"mask_rcnn_pvt_small_fpn", 44.1},
                                                              {"retinanet_pvt_tiny_fpn", 23.0},
                                                              {"retinanet_pvt_small_fpn", 34.2},
                                                              {"mask_rcnn_swin_t_fpn", 48}};
  for (const auto& [name, millions] : published) {
    const auto model = plan_of("name = \"" + name + "\"").build();
    int64_t parameters = 0;
    for (const at::Tensor& parameter : model->parameters()) parameters += parameter.numel();
    EXPECT_NEAR(static_cast<double>(parameters) / 1e6, millions, name.find("swin") == std::string::npos ? 0.1 : 0.5)
        << name;
  }
}

TEST(DetectorOptions, DataSayHowManyClassesThereAreUnlessTheRecipeDoes) {
  auto document = config::Document::from_text("[model]\nname = \"retinanet_pvt_tiny_fpn\"\n", "r.toml");
  EXPECT_EQ(models::read_object_detector(document.root().table("model"), {.classes = 6}).classes, 6);
  EXPECT_EQ(plan_of("name = \"retinanet_pvt_tiny_fpn\"\nclasses = 7").classes, 7);
}

TEST(DetectorOptions, PublishedConfigurationsAreThoseOfMmdetection) {
  const std::vector<int64_t> strides{4, 8, 16, 32};
  const auto faster = models::RegionDetectorOptions::faster_rcnn(strides, 80);
  const auto mask = models::RegionDetectorOptions::mask_rcnn(strides, 80);
  EXPECT_FALSE(faster.roi.assigner.match_low_quality);
  EXPECT_TRUE(mask.roi.assigner.match_low_quality);
  EXPECT_FALSE(faster.roi.mask);
  EXPECT_EQ(mask.roi.mask->extractor.side, 14);
  EXPECT_EQ(mask.rpn.targets.anchors.strides, (std::vector<int64_t>{4, 8, 16, 32, 64}));
  EXPECT_EQ(mask.rpn.train.per_level, 2000);
  EXPECT_EQ(mask.rpn.test.per_level, 1000);
  EXPECT_EQ(mask.rpn.targets.sampler->count, 256);
  EXPECT_EQ(mask.roi.sampler.count, 512);
  const auto retina = models::RetinaNetOptions::published(strides, 80);
  EXPECT_EQ(retina.neck.start_level, 1);
  EXPECT_EQ(retina.neck.outputs, 5);
  EXPECT_EQ(retina.head.targets.anchors.strides, (std::vector<int64_t>{8, 16, 32, 64, 128}));
  EXPECT_EQ(retina.head.targets.anchors.per_cell(), 9);
}

/// The options that a table reads as, all keys known.
template <class Options>
Options options_of(const std::string& toml, const Options& defaults) {
  auto document = config::Document::from_text("[model]\n" + toml + "\n", "r.toml");
  const Options options = Options::read(document.root().table("model"), defaults, {4, 8, 16, 32});
  document.finish();
  return options;
}

TEST(DetectorOptions, EveryKeyOfTheBaseConfigurationsIsRead) {
  const auto o = options_of(R"(
neck = {out_channels = 64, num_outs = 6, start_level = 0, add_extra_convs = "on_output", relu_before_extra_convs = true}
[model.rpn_head]
feat_channels = 32
allowed_border = 3
anchors = {ratios = [1.0], scales = [4, 8], strides = [4, 8, 16, 32, 64, 128]}
coder = {target_means = [0, 0, 0, 0.5], target_stds = [1, 1, 2, 2], ratio_clip = 0.1, clip_border = false}
assigner = {pos_iou_thr = 0.6, neg_iou_thr = 0.2, min_pos_iou = 0.1, match_low_quality = false, gt_max_assign_all = false, ignore_iof_thr = 0.5, ignore_wrt_candidates = false}
sampler = {num = 100, pos_fraction = 0.4, neg_pos_ub = 3, add_gt_as_proposals = false}
loss_cls = {loss_weight = 2.0}
loss_bbox = {beta = 0.1, loss_weight = 3.0}
proposals = {nms_pre = 500, max_per_img = 300, nms_iou_threshold = 0.6, min_bbox_size = -1}
test_proposals = {nms_pre = 400, max_per_img = 200}
[model.roi_head]
assigner = {pos_iou_thr = 0.55, neg_iou_thr = 0.5, min_pos_iou = 0.4}
sampler = {num = 64, pos_fraction = 0.5}
bbox_roi_extractor = {output_size = 5, sampling_ratio = 2, featmap_strides = [4, 8], finest_scale = 28}
bbox_head = {fc_out_channels = 99, reg_class_agnostic = true, coder = {target_stds = [0.2, 0.2, 0.2, 0.2]}, loss_cls = {loss_weight = 0.5}, loss_bbox = {loss_weight = 0.25}}
mask_roi_extractor = {output_size = 7, sampling_ratio = 1}
mask_head = {num_convs = 2, conv_out_channels = 48, mask_size = 14, loss_mask = {loss_weight = 0.75}}
[model.test]
score_thr = 0.1
nms_iou_threshold = 0.4
max_per_img = 50)",
                            models::RegionDetectorOptions::mask_rcnn({4, 8, 16, 32}, 3));
  EXPECT_EQ(o.neck.channels, 64);
  EXPECT_EQ(o.neck.extra, models::ExtraLevels::on_output);
  EXPECT_TRUE(o.neck.relu_before_extra);
  EXPECT_EQ(o.rpn.channels, 32);
  EXPECT_EQ(o.rpn.targets.allowed_border, 3);
  EXPECT_EQ(o.rpn.targets.anchors.per_cell(), 2);
  EXPECT_EQ(o.rpn.targets.coder.means[3], 0.5);
  EXPECT_FALSE(o.rpn.targets.coder.clip_to_image);
  EXPECT_EQ(o.rpn.targets.coder.ratio_clip, 0.1);
  EXPECT_EQ(o.rpn.targets.assigner.positive_iou, 0.6);
  EXPECT_FALSE(o.rpn.targets.assigner.all_best);
  EXPECT_EQ(o.rpn.targets.assigner.ignored_share, 0.5);
  EXPECT_FALSE(o.rpn.targets.assigner.ignored_by_box);
  EXPECT_EQ(o.rpn.targets.sampler->negatives_per_positive, 3);
  EXPECT_EQ(o.rpn.score_loss_weight, 2.0);
  EXPECT_EQ(o.rpn.box_loss.beta, 0.1);
  EXPECT_EQ(o.rpn.box_loss.weight, 3.0);
  EXPECT_EQ(o.rpn.train.most, 300);
  EXPECT_EQ(o.rpn.train.least_side, -1);
  EXPECT_EQ(o.rpn.test.per_level, 400);
  EXPECT_TRUE(o.roi.sampler.add_objects);
  EXPECT_EQ(o.roi.assigner.least_positive_iou, 0.4);
  EXPECT_EQ(o.roi.extractor.side, 5);
  EXPECT_EQ(o.roi.extractor.finest_scale, 28);
  EXPECT_TRUE(o.roi.box.one_box_for_all);
  EXPECT_EQ(o.roi.box.coder.deviations[2], 0.2);
  EXPECT_EQ(o.roi.box.class_loss_weight, 0.5);
  EXPECT_EQ(o.roi.mask->side, 14);
  EXPECT_EQ(o.roi.mask->head.convolutions, 2);
  EXPECT_EQ(o.roi.mask->head.loss_weight, 0.75);
  EXPECT_EQ(o.roi.limits.most, 50);
  EXPECT_EQ(o.roi.limits.iou_threshold, 0.4);

  const auto r = options_of(R"(
[model.bbox_head]
feat_channels = 16
stacked_convs = 2
allowed_border = 0
anchors = {octave_base_scale = 2, scales_per_octave = 2}
loss_cls = {gamma = 1.5, alpha = 0.5, loss_weight = 2}
loss_bbox = {beta = 0.2}
[model.test]
nms_pre = 20)",
                            models::RetinaNetOptions::published({4, 8, 16, 32}, 3));
  EXPECT_EQ(r.head.channels, 16);
  EXPECT_EQ(r.head.convolutions, 2);
  EXPECT_EQ(r.head.targets.allowed_border, 0);
  EXPECT_EQ(r.head.targets.anchors.scales, models::AnchorOptions::octave(2, 2));
  EXPECT_EQ(r.head.class_loss.gamma, 1.5);
  EXPECT_EQ(r.head.box_loss.beta, 0.2);
  EXPECT_EQ(r.head.per_level, 20);
}

TEST(DetectorOptions, AgnosticBoxesLearnAndAreFound) {
  const auto plan = plan_of(R"(name = "faster_rcnn_pvt_v2_b0_fpn"
classes = 3
image_size = 64
roi_head = {bbox_head = {reg_class_agnostic = true, fc_out_channels = 8}})");
  const auto model = plan.build();
  EXPECT_EQ(model->named_parameters()["roi_head.bbox_head.fc_reg.weight"].size(0), 4);
}

TEST(DetectorOptions, NamesWhatIsWrong) {
  const auto refused = [](const std::string& toml, const std::string& text) {
    auto document = config::Document::from_text("[model]\n" + toml + "\n", "r.toml");
    try {
      models::read_object_detector(document.root().table("model"));
      document.finish();
      ADD_FAILURE() << "accepted: " << toml;
    } catch (const config::Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  const std::string mask = "name = \"mask_rcnn_pvt_tiny_fpn\"\n", retina = "name = \"retinanet_pvt_tiny_fpn\"\n";
  refused("name = \"pvt_tiny\"", "'pvt_tiny' is not an object detector");
  refused("name = \"mask_rcnn_pvt_tini_fpn\"", "mask_rcnn_pvt_tiny_fpn");
  refused(mask + "neck = {num_outs = 3}", "must be at least 4, one level for each stage from start_level on");
  refused(mask + "neck = {add_extra_convs = \"on_inputs\"}", "on_input");
  refused(mask + "rpn_head = {anchors = {strides = [4, 8]}}", "must be the strides of the neck's levels");
  refused(mask + "rpn_head = {coder = {target_stds = [1, 1]}}", "takes 4 numbers, not 2");
  refused(mask + "rpn_head = {sampler = {add_gt_as_proposals = true}}",
          "rpn_head.sampler.add_gt_as_proposals: must be false");
  refused(mask + "rpn_head = {anchors = {scales = []}}", "takes 1 to 64 numbers, not 0");
  refused(mask + "roi_head = {bbox_roi_extractor = {featmap_strides = []}}", "takes 1 to 16 integers, not 0");
  refused(mask + "rpn_head = {assigner = {pos_iou_thr = 0.2}}", "neg_iou_thr");
  refused(mask + "roi_head = {mask_head = {mask_size = 27}}",
          "must be 28: the mask head doubles the output_size of mask_roi_extractor");
  refused(mask + "roi_head = {bbox_roi_extractor = {featmap_strides = [8, 16]}}",
          "must be the strides of the neck's first levels, starting with the finest: 4, 8, 16, 32, 64");
  refused(mask + "rpn_head = {anchors = {strides = [8, 16, 32, 64, 128]}}",
          "must be the strides of the neck's levels: 4, 8, 16, 32, 64");
  refused(retina + "bbox_head = {anchors = {strides = [8]}}", "must be the strides of the neck's levels: 8, 16");
  refused(mask + "roi_head = {bbox_head = {fc_out_chanels = 3}}", "fc_out_channels");
  refused(retina + "bbox_head = {anchors = {octave_base_scale = 4, scales = [1]}}", "octave_base_scale");
  refused(retina + "test = {score_thr = 2}", "score_thr");
}

TEST(DetectorOptions, StridesThatDoNotAgreeAreRefusedByTheModel) {
  auto o = models::RegionDetectorOptions::faster_rcnn({4, 8, 16, 32}, 3);
  o.rpn.targets.anchors.strides = {8, 16, 32, 64, 128};
  const auto plan = plan_of("name = \"retinanet_pvt_v2_b0_fpn\"\nimage_size = 64\nclasses = 2");
  const auto built = plan.build();
  const std::shared_ptr<models::FeaturePyramid> backbone(built, &built->backbone());
  try {
    models::FasterRcnn model(backbone, o);
    FAIL() << "accepted";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what_without_backtrace()).find("levels (4, 8, 16, 32, 64), got (8, 16, 32, 64, 128)"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace cachet
