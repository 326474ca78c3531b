#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/io/tensors/tensor_map.h"

namespace cachet::tasks {

// A model folder: weights and the description of their model, without a training run. The file model.safetensors
// has every parameter and buffer, under Cachet's names. The file recipe.toml has the whole table [model], the
// kind of its task, and the preparation of images from [data], so that the user's recipes can be based on
// recipe.toml. The file config.json is for other programs, and has a short form of the recipe and the SHA-256 of
// the weights.

/// The content of config.json, without the digest.
struct ModelFolderFacts {
  std::string architecture{};   // "pvt_tiny"
  std::string source{};         // the file from which the weights came
  std::string names{};          // the source of the tensors' names: "pvt"
  std::string source_digest{};  // SHA-256 of that file
  /// A JSON object about the model's input, whose keys are copied into config.json. For images, the object has the keys
  /// num_classes, label_names (if the classes have names), input_size ([channels, height, width]) and preprocessing.
  /// For texts, the object has one key, the kind of input, whose value is an object with the sizes of the input.
  std::string input = "{}";
  /// The tensors of the model that are not from the source of the weights and were never trained.
  std::vector<std::string> untrained{};
};

/// Writes the folder: each file atomically, and config.json last. Throws io::Error if writing fails, or if the folder
/// has files but is not a model folder.
void write_model_folder(const std::filesystem::path& folder, const io::TensorMap& weights,
                        const config::Document& recipe, const ModelFolderFacts& facts);

bool is_model_folder(const std::filesystem::path& path);
/// Whether a path is the path of one of the three files of a model folder.
bool is_model_file(const std::filesystem::path& path);
/// Whether a model folder has the architecture `architecture`, and was made from a file with the digest
/// `source_digest`.
bool is_model_folder_of(const std::filesystem::path& folder, const std::string& architecture,
                        const std::string& source_digest);
std::filesystem::path model_folder_recipe(const std::filesystem::path& folder);

/// Returns ModelFolderFacts::untrained. If the folder was written without the list of untrained parts, the result is
/// empty. Throws io::Error.
std::vector<std::string> untrained_tensors(const std::filesystem::path& folder);
/// Returns the parts ("blocks.*.attn.cache") of a model folder or of its export that were never trained; empty for any
/// other path. Throws io::Error.
std::vector<std::string> untrained_parts(const std::filesystem::path& path);
/// Returns a line for the user that names untrained_parts(); empty if there are none. Throws io::Error.
std::optional<std::string> untrained_note(const std::filesystem::path& path);

/// Returns the SHA-256 of the weights, as stored in config.json. Throws io::Error.
std::string model_folder_digest(const std::filesystem::path& folder);

/// Reads the weights of a model folder, and checks them against the SHA-256 in config.json. Throws io::Error.
io::TensorMap read_model_folder(const std::filesystem::path& folder);

}  // namespace cachet::tasks
