#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/tasks/dry_run.h"
#include "tests/tasks/joint_steps.h"

// Two processes that share each batch are one with the whole, with every norm and cache, which sum over a batch, where
// their parts are not equal.
namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;

constexpr const char* kJointImages = R"([data]
kind = "cifar10"
[data.augmentation]
flip = 0.5
[model]
name = "vit_tiny_patch16_224"
image_size = 32
patch_size = 8
embed_dim = 16
depth = 2
num_heads = 2
mlp_ratio = 1
[train]
clip_norm = 1.0
[optimizer]
kind = "sgd"
lr = 0.1
)";

constexpr const char* kJointSequences = R"([task]
kind = "sequence_classification"
[data]
kind = "imdb"
root = "nowhere"
max_length = 24
[model]
name = "lra_text"
dropout = 0.0
embed_dim = 16
depth = 2
num_heads = 2
mlp_dim = 16
[train]
clip_norm = 1.0
[optimizer]
kind = "sgd"
lr = 0.1
)";

constexpr const char* kJointScenes = R"([task]
kind = "detection"
[data]
root = "nowhere"
classes = 3
[data.transform]
long_side = 64
short_sides = [64]
[model]
embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
stochastic_depth = 0.0
[model.neck]
out_channels = 8
[train]
clip_norm = 10.0
[optimizer]
kind = "sgd"
lr = 0.01
)";

RecipePlan joint_plan(const char* recipe, const Settings& settings, int64_t batch_size) {
  config::Document document = config::Document::from_text(recipe, "joint.toml");
  for (const std::string& setting : settings) document.set(setting);
  RecipePlan plan = reduced(read_recipe(document, data::DataRoot::optional));
  plan.training.train.batch_size = batch_size;
  plan.training.train.epochs = 4;
  return plan;
}

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
  EXPECT_THROW(plan.build(Splits::made_up), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::tasks
