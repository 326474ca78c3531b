#include "cachet/tasks/weights/model_folder.h"

#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/weights/tensor_parts.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using ConfigJson = nlohmann::ordered_json;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kRecipe = "recipe.toml";
constexpr const char* kConfig = "config.json";
constexpr uint64_t kMaxConfigBytes = 1 << 20;

/// Throws io::Error, io::NewerSchema.
io::JsonFields read_config(const fs::path& config) {
  io::JsonFields json(io::read_text_file(config, kMaxConfigBytes), config.string());
  json.schema(1);
  return json;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  // Whether the folder is empty is asked first: a model folder that another process makes in between is then seen as
  // one.
  const bool holds = fs::exists(folder, error) && !fs::is_empty(folder, error);
  if (holds && !is_model_folder(folder))
    throw io::Error(folder.string() + ": exists and is not a model folder; name another folder");
  fs::create_directories(folder, error);
  if (error) throw io::Error(folder.string() + ": cannot be created: " + error.message());
}

}  // namespace

bool is_model_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path / kConfig, error) && fs::is_regular_file(path / kRecipe, error);
}

bool is_model_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return (name == kWeights || name == kRecipe || name == kConfig) && is_model_folder(path.parent_path());
}

bool is_model_folder_of(const fs::path& folder, const std::string& architecture, const std::string& source_digest) {
  if (!is_model_folder(folder)) return false;
  try {
    const io::JsonFields json = read_config(folder / kConfig);
    return json.text("architecture") == architecture && json.object("source").text("sha256") == source_digest;
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const io::Error&) {
    return false;
  }
}

fs::path model_folder_recipe(const fs::path& folder) { return folder / kRecipe; }

void write_model_folder(const fs::path& folder, const io::TensorMap& weights, const config::Document& recipe,
                        const ModelFolderFacts& facts) {
  make_folder(folder);
  const std::vector<std::byte> bytes = io::serialize_safetensors(weights);
  ConfigJson config{{"schema", 1}, {"architecture", facts.architecture}};
  config.update(ConfigJson::parse(facts.input));
  config["source"] = {{"file", facts.source}, {"sha256", facts.source_digest}, {"names", facts.names}};
  if (!facts.untrained.empty()) config["untrained"] = facts.untrained;
  config["sha256"] = io::sha256_hex(bytes);
  io::write_file_atomically(folder / kWeights, bytes);
  io::write_file_atomically(folder / kRecipe, recipe.resolved_toml(/*with_origins=*/false));
  io::write_file_atomically(folder / kConfig, config.dump(2) + "\n");
}

std::vector<std::string> untrained_tensors(const fs::path& folder) {
  const io::JsonFields json = read_config(folder / kConfig);
  return json.has("untrained") ? json.texts("untrained") : std::vector<std::string>();
}

std::vector<std::string> untrained_parts(const fs::path& path) {
  if (runtime::is_export(path)) return runtime::read_export_manifest(path).untrained;
  return is_model_folder(path) ? tensor_parts(untrained_tensors(path)) : std::vector<std::string>();
}

std::optional<std::string> untrained_note(const fs::path& path) {
  const std::vector<std::string> parts = untrained_parts(path);
  if (parts.empty()) return std::nullopt;
  return path.string() + ": these parts are not trained, but predictions depend on them: " + first_names(parts);
}

std::string model_folder_digest(const fs::path& folder) { return read_config(folder / kConfig).text("sha256"); }

io::TensorMap read_model_folder(const fs::path& folder) {
  const fs::path path = folder / kWeights;
  const std::string digest = model_folder_digest(folder);
  const auto bytes = io::read_file(path, io::InputFile(path).size());
  if (io::sha256_hex(bytes) != digest)
    throw io::Error(path.string() + ": its SHA-256 differs from the SHA-256 in config.json");
  io::TensorMap weights = io::parse_safetensors(bytes, path.string()).tensors;
  io::require_finite(weights, path.string());
  return weights;
}

}  // namespace cachet::tasks
