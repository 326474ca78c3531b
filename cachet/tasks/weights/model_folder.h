#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cachet/config/document.h"
#include "cachet/io/tensor_map.h"
#include "cachet/models/model_plan.h"
#include "cachet/tasks/image_classification/preprocessing.h"

namespace cachet::tasks {

// A model folder: weights and what they are the weights of, without a training run. It holds
//   model.safetensors   every parameter and buffer, in our names
//   recipe.toml         the table [model], whole, and of [data] how an image becomes the model's input, or what kind of
//                       task a model of text is for: a base for recipes of its own
//   config.json         for other programs: the same in short, and the SHA-256 of the weights

/// What config.json says besides the digest.
struct ModelFolderFacts {
  std::string architecture;  // "pvt_tiny"
  int64_t classes = 0;
  int64_t channels = 0, height = 0, width = 0;
  std::string source;  // the file that the weights came from
  std::string names;   // whose names they had there: "pvt"
  Preprocessing preprocessing{};
  std::string source_digest{};  // SHA-256 of that file
  models::ModelInput text{};    // of a model that reads text, in the place of classes, image and preprocessing
};

/// Makes the folder, each file atomically, config.json last. Throws io::Error, also where the folder holds something
/// else.
void write_model_folder(const std::filesystem::path& folder, const io::TensorMap& weights,
                        const config::Document& recipe, const ModelFolderFacts& facts);

bool is_model_folder(const std::filesystem::path& path);
/// Whether a path is that of one of a model folder's three files.
bool is_model_file(const std::filesystem::path& path);
/// Whether the folder holds that architecture, made of a file with these bytes.
bool is_model_folder_of(const std::filesystem::path& folder, const std::string& architecture,
                        const std::string& source_digest);
std::filesystem::path model_folder_recipe(const std::filesystem::path& folder);

/// The SHA-256 of the weights, as config.json has it. Throws io::Error.
std::string model_folder_digest(const std::filesystem::path& folder);

/// The weights, held to the digest. Throws io::Error.
io::TensorMap read_model_folder(const std::filesystem::path& folder);

}  // namespace cachet::tasks
