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
  for (const char* cache : {"none", "grc", "fifo"}) {
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
