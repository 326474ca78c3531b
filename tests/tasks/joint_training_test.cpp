#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tasks/joint_recipes.h"
#include "tests/tasks/joint_steps.h"

// Two processes that share each batch are one with the whole, with every norm and cache, which sum over a batch, where
// their parts are not equal.
namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;
using test::joint_plan, test::kJointImages, test::kJointScenes, test::kJointSequences;

std::string words_of(const Settings& settings) {
  std::string words;
  for (const std::string& setting : settings) words += setting + " ";
  return words;
}

TEST(JointTraining, OfImagesIsThatOfOneProcess) {
  for (const char* cache : {"none", "grc", "fifo", "concatenated"}) {
    for (const char* norm : {"layer", "batch", "un", "pn", "mabn"}) {
      Settings settings{std::string("model.norm.kind=") + norm};
      if (std::string(cache) != "none") settings.push_back(std::string("model.cache.kind=") + cache);
      test::expect_as_alone(test::train_joint_steps(joint_plan(kJointImages, settings, 5), 6), words_of(settings));
    }
  }
}

TEST(JointTraining, OfSequencesIsThatOfOneProcess) {
  for (const Settings& settings :
       {Settings{"model.cache.kind=grc", "model.cache.positional_convolution=false"},
        Settings{"model.norm.kind=un", "model.attention.kind=kernel", "model.attention.form=glu"},
        Settings{"model.attention.kind=kernel", "model.attention.form=oglu", "model.attention.penalty=0.1"}})
    test::expect_as_alone(test::train_joint_steps(joint_plan(kJointSequences, settings, 3), 6), words_of(settings));
}

// The images have thousands of tokens, and the states are means of these near 0: more roundings than above.
constexpr double kSceneTolerance = 2e-4;

TEST(JointTraining, OfADetectorIsThatOfOneProcess) {
  for (const Settings& plug_ins :
       {Settings{}, Settings{"model.norm.kind=batch"}, Settings{"model.norm.kind=un", "model.cache.kind=grc"},
        Settings{"model.cache.kind=concatenated"}}) {
    Settings settings{"model.name=retinanet_pvt_tiny_fpn", "model.bbox_head.feat_channels=8",
                      "model.bbox_head.stacked_convs=1"};
    settings.insert(settings.end(), plug_ins.begin(), plug_ins.end());
    test::expect_as_alone(test::train_joint_steps(joint_plan(kJointScenes, settings, 5), 4), words_of(settings),
                          kSceneTolerance);
  }
}

// The losses of proposals are divided by the counts of each part; here they count for nothing.
TEST(JointTraining, OfAnRpnIsThatOfOneProcess) {
  for (const char* model : {"faster_rcnn_pvt_tiny_fpn", "mask_rcnn_pvt_tiny_fpn"}) {
    Settings settings{std::string("model.name=") + model,
                      "model.rpn_head.feat_channels=8",
                      "model.rpn_head.anchors.scales=[4.0]",
                      "model.rpn_head.proposals.max_per_img=20",
                      "model.roi_head.sampler.num=8",
                      "model.roi_head.bbox_head.fc_out_channels=12",
                      "model.roi_head.bbox_head.loss_cls.loss_weight=0",
                      "model.roi_head.bbox_head.loss_bbox.loss_weight=0"};
    if (std::string(model).starts_with("mask"))
      settings.insert(settings.end(), {"model.roi_head.mask_head.conv_out_channels=8",
                                       "model.roi_head.mask_head.loss_mask.loss_weight=0"});
    test::expect_as_alone(test::train_joint_steps(joint_plan(kJointScenes, settings, 5), 4), words_of(settings),
                          kSceneTolerance);
  }
}

TEST(JointTraining, AccumulatesMicroBatches) {
  Settings settings{"model.norm.kind=un", "model.cache.kind=grc", "train.accumulate=2"};
  test::expect_as_alone(test::train_joint_steps(joint_plan(kJointImages, settings, 3), 3), words_of(settings));
}

TEST(JointTraining, RefusesABatchOfFewerSamplesThanProcesses) {
  RecipePlan plan = joint_plan(kJointImages, {}, 1);
  plan.training.train.shard = {0, 2};
  EXPECT_THROW(plan.build(Splits::synthetic), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::tasks
