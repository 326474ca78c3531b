#include "tests/tasks/keys/key_recipes.h"

#include <string_view>

#include "tests/support/small_scenes.h"

namespace cachet::test {
namespace {

constexpr const char* kOneStep = R"(
[train]
epochs = 1
limit = "1 steps"
batch_size = 4
threads = 1
[optimizer]
lr = 0.001
)";

constexpr const char* kImages = R"(
[data]
kind = "idx"
root = "FOLDER"
classes = 4
workers = 0
)";

constexpr const char* kSmallSwin = R"(embed_dim = 8
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
window_size = 4
mlp_ratio = 1
)";

const char* const kPairs = R"([task]
kind = "translation"
[task.evaluation]
beam = 2
[data]
root = "FOLDER"
source = "de"
target = "en"
tokens = "words"
max_length = 8
max_tokens = 60
workers = 0
VOCABULARY
[model]
name = "transformer_translation_small"
embed_dim = 16
encoder_depth = 1
decoder_depth = 1
encoder_heads = 2
decoder_heads = 2
encoder_mlp_dim = 16
decoder_mlp_dim = 16
)";

std::string scenes(const std::string& model) {
  return small_scenes("FOLDER/shapes") + "[model]\nname = \"" + model + "\"\n";
}

}  // namespace

/// With averaged weights, whose keys are read with them alone.
std::string one_step_with_average() {
  const std::string train = "[train]\n";
  std::string text(kOneStep);
  return text.insert(text.find(train) + train.size(), "ema_decay = 0.5\n");
}

std::string vit_recipe(const std::string& name) {
  return std::string(kImages) + "[model]\nname = \"" + name + R"("
image_size = 8
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
[paper]
arxiv = "2312.12742"
row = "Table 1"
value = "79.9 % top-1"
)" + one_step_with_average();
}

std::string pvt_recipe(const std::string& name) {
  return std::string(kImages) + "[data.resize]\nimage_size = 64\n[model]\nname = \"" + name + R"("
embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
)" + kOneStep;
}

std::string sequence_recipe(const std::string& data, const std::string& model) {
  return "[task]\nkind = \"sequence_classification\"\n[data]\nmax_length = 16\nworkers = 0\n" + data +
         "[model]\nname = \"" + model + R"("
embed_dim = 16
depth = 1
num_heads = 2
mlp_dim = 16
)" + kOneStep;
}

std::string corpus_recipe(const std::string& model) {
  return R"([task]
kind = "language_modelling"
[task.evaluation]
lanes = 2
[data]
root = "FOLDER"
vocabulary = 13
workers = 0
[model]
embed_dim = 16
depth = 1
num_heads = 2
mlp_dim = 16
target_length = 8
cutoffs = [6]
)" + model +
         kOneStep;
}

std::string pair_recipe(const std::string& vocabulary) {
  std::string recipe = kPairs;
  return recipe.replace(recipe.find("VOCABULARY"), std::string_view("VOCABULARY").size(), vocabulary) + kOneStep;
}

std::string swin_recipe(const std::string& name) {
  return std::string(kImages) + R"([data.resize]
image_size = 32
[model]
name = ")" +
         name + "\"\n" + kSmallSwin + kOneStep;
}

std::string t2t_recipe(const std::string& name) {
  return std::string(kImages) + "[data.resize]\nimage_size = 32\n[model]\nname = \"" + name + R"("
embed_dim = 16
depth = 1
num_heads = 2
mlp_ratio = 1
token_dim = 8
)" + kOneStep;
}

std::string detector_recipe(const std::string& name) {
  std::string recipe =
      scenes(name) + (name.find("_swin_") == std::string::npos ? kSmallPyramid : kSmallSwin) + kSmallNeck;
  if (name.starts_with("retinanet"))
    recipe += "[model.bbox_head]\nfeat_channels = 8\nstacked_convs = 1\n";
  else
    recipe += kSmallRegions;
  if (name.starts_with("mask_rcnn")) recipe += "[model.roi_head.mask_head]\nconv_out_channels = 8\nnum_convs = 1\n";
  return recipe + kOneStep;
}

}  // namespace cachet::test
