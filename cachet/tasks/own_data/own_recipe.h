#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cachet::tasks {

/// A model and a user's data, from which a recipe is made.
struct OwnDataRequest {
  std::string model;               // a name (models/registry.h)
  std::filesystem::path data;      // a folder or a file
  std::filesystem::path prepared;  // folder in which texts are prepared
  /// Settings "key=value" that replace values of the recipe. The values that Cachet chooses for keys outside `settings`
  /// may depend on `settings`.
  std::vector<std::string> settings{};
  std::string init{};               // the initial weights, as the user names them
  std::filesystem::path weights{};  // a file next to timm's config.json, or a model folder, from which the recipe takes
                                    // the preparation of images; empty if there are no weights
};

struct OwnRecipe {
  std::string name;                  // "vit_tiny_patch16_224-photos"
  std::string text;                  // TOML, with a comment that names the model and the data
  std::vector<std::string> lines{};  // lines for the user: kind of data, counts, chosen values
};

/// Recognises the data, prepares texts, and chooses the values of a recipe: number of classes, crops, subwords, batch
/// size, epochs. If the data fit several kinds of data, the task of the model decides, and the line for the user names
/// both kinds. Throws io::Error if data cannot be used (for example, if a class is empty), std::invalid_argument if the
/// data fit no task of the model.
OwnRecipe make_own_recipe(const OwnDataRequest& request);

}  // namespace cachet::tasks
