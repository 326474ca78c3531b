#include "cachet/train/checkpoints/manifest.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/io/json/sealed_json.h"
#include "cachet/train/checkpoints/checkpoint.h"

namespace cachet::train {
namespace {

using ManifestJson = nlohmann::ordered_json;

constexpr uint64_t kMaxManifestBytes = 1 << 20;

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != kManifestName && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  ManifestJson files = ManifestJson::object();
  for (const auto& [name, file] : manifest.files) files[name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  const ManifestJson json{{"schema", 1}, {"run", manifest.run}, {"step", manifest.step}, {"files", std::move(files)}};
  return io::sealed_json(json.dump());
}

Manifest manifest_from_json(const std::string& text, const std::string& name) {
  if (!io::is_sealed_json(text)) throw io::Error(name + ": the content of the file does not match its digest");
  const io::JsonFields json(text, name);
  json.schema(1);
  Manifest manifest{json.text("run"), json.count("step"), {}};
  const io::JsonFields files = json.object("files");
  for (const std::string& file : files.keys()) {
    if (!is_plain_name(file)) files.fail("it names a file outside the folder, " + io::in_quotes(file));
    const io::JsonFields listed = files.object(file);
    manifest.files[file] = {listed.unsigned_integer("bytes"), listed.text("sha256")};
  }
  return manifest;
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestName;
  try {
    Manifest manifest = manifest_from_json(io::read_text_file(path, kMaxManifestBytes), path.string());
    for (const auto& [name, file] : manifest.files) {
      std::error_code error;
      const uint64_t bytes = std::filesystem::file_size(folder / name, error);
      if (error) throw DamagedCheckpoint((folder / name).string() + ": " + error.message());
      if (bytes != file.bytes) {
        throw DamagedCheckpoint((folder / name).string() + ": has " + std::to_string(bytes) +
                                " bytes, but its size in the manifest is " + std::to_string(file.bytes));
      }
    }
    return manifest;
  } catch (const io::NewerSchema&) {
    throw;
  } catch (const io::Error& error) {
    throw DamagedCheckpoint(error.what());
  }
}

}  // namespace cachet::train
