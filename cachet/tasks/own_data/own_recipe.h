#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cachet::tasks {

/// A model and data of a user's own, from which a recipe is made.
struct OwnDataRequest {
  std::string model;               // a name (models/registry.h)
  std::filesystem::path data;      // a folder or a file
  std::filesystem::path prepared;  // below it texts are prepared
  /// "key=value" that will lie over the recipe: what is chosen may depend on them.
  std::vector<std::string> settings{};
  std::string init{};               // the weights to start from, as the user names them
  std::filesystem::path weights{};  // next to timm's config.json, or a model folder, whose preparation of images the
                                    // recipe takes; empty if there is none
};

struct OwnRecipe {
  std::string name;                  // "vit_tiny_patch16_224-photos"
  std::string text;                  // TOML, with a comment that names the model and the data
  std::vector<std::string> lines{};  // for the user: the kind of data and its counts, what was chosen
};

/// Recognises the data, prepares texts, and chooses what a recipe needs: number of classes, crops, subwords, batch
/// size, epochs. If several kinds of data fit, the model's task decides, and the line names both. Throws io::Error for
/// data that cannot be used (an empty class), std::invalid_argument if the model cannot do a task for which there are
/// data.
OwnRecipe make_own_recipe(const OwnDataRequest& request);

}  // namespace cachet::tasks
