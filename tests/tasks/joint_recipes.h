#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/recipe.h"

namespace cachet::test {

/// How the recipes below train: with gradients of at most this norm, at this rate.
inline std::string joint_training(const char* clip_norm, const char* rate) {
  return std::string("[train]\nclip_norm = ") + clip_norm + "\n[optimizer]\nkind = \"sgd\"\nlr = " + rate + "\n";
}

/// Recipes of seconds whose training draws nothing.
inline const std::string kJointImages = R"([data]
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
)" + joint_training("1.0", "0.1");

inline const std::string kJointSequences = R"([task]
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
)" + joint_training("1.0", "0.1");

inline const std::string kJointScenes = R"([task]
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
)" + joint_training("10.0", "0.01");

/// For few synthetic samples.
inline tasks::RecipePlan joint_plan(const std::string& recipe, const std::vector<std::string>& settings,
                                    int64_t batch_size) {
  config::Document document = config::Document::from_text(recipe, "joint.toml");
  for (const std::string& setting : settings) document.set(setting);
  tasks::RecipePlan plan = tasks::reduced(tasks::read_recipe(document, data::DataRoot::optional));
  plan.training.train.batch_size = batch_size;
  plan.training.train.epochs = 4;
  return plan;
}

}  // namespace cachet::test
