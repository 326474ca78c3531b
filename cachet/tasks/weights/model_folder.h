#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/io/tensors/tensor_map.h"

namespace cachet::tasks {

// A model folder: weights and what they are the weights of, without a training run. It holds
//   model.safetensors   every parameter and buffer, in our names
//   recipe.toml         the table [model], whole, what kind of task it is for, and of [data] how an image becomes its
//                       input: a base for recipes of its own
//   config.json         for other programs: the same in short, and the SHA-256 of the weights

/// The content of config.json other than the digest.
struct ModelFolderFacts {
  std::string architecture{};   // "pvt_tiny"
  std::string source{};         // the file that the weights came from
  std::string names{};          // whose names they had there: "pvt"
  std::string source_digest{};  // SHA-256 of that file
  /// A JSON object of what the model takes, whose keys stand in config.json: num_classes, label_names (if the
  /// classes have names), input_size ([channels, height, width]) and preprocessing of images; the sizes of a text below
  /// what it is.
  std::string input = "{}";
  /// The tensors that did not come from the source and that nothing has trained.
  std::vector<std::string> untrained{};
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

/// The tensors of ModelFolderFacts::untrained; none if a folder was written before they were stored. Throws io::Error.
std::vector<std::string> untrained_tensors(const std::filesystem::path& folder);
/// The parts of a model folder, or of an export of one, that nothing has trained ("blocks.*.attn.cache"); none for any
/// other path. Throws io::Error.
std::vector<std::string> untrained_parts(const std::filesystem::path& path);
/// A line for the user that names these parts; nothing if there are none. Throws io::Error.
std::optional<std::string> untrained_note(const std::filesystem::path& path);

/// The SHA-256 of the weights, as config.json has it. Throws io::Error.
std::string model_folder_digest(const std::filesystem::path& folder);

/// The weights, checked against the digest. Throws io::Error.
io::TensorMap read_model_folder(const std::filesystem::path& folder);

}  // namespace cachet::tasks
