#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/recipe.h"

namespace cachet::test {

/// Recipes of seconds whose training draws nothing.
inline constexpr const char* kJointImages = R"([data]
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

inline constexpr const char* kJointSequences = R"([task]
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

inline constexpr const char* kJointScenes = R"([task]
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

/// For few made-up samples.
inline tasks::RecipePlan joint_plan(const char* recipe, const std::vector<std::string>& settings, int64_t batch_size) {
  config::Document document = config::Document::from_text(recipe, "joint.toml");
  for (const std::string& setting : settings) document.set(setting);
  tasks::RecipePlan plan = tasks::reduced(tasks::read_recipe(document, data::DataRoot::optional));
  plan.training.train.batch_size = batch_size;
  plan.training.train.epochs = 4;
  return plan;
}

}  // namespace cachet::test
