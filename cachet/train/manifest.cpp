#include "cachet/train/manifest.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/parse_json.h"
#include "cachet/io/read_file.h"
#include "cachet/io/sha256.h"
#include "cachet/train/checkpoint.h"

namespace cachet::train {
namespace {

using ManifestJson = nlohmann::ordered_json;

constexpr uint64_t kMostManifestBytes = 1 << 20;

ManifestJson manifest_body(const Manifest& manifest) {
  ManifestJson files = ManifestJson::object();
  for (const auto& [name, file] : manifest.files) files[name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  return {{"schema", 1}, {"run", manifest.run}, {"step", manifest.step}, {"files", std::move(files)}};
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != kManifestName && name.front() != '.' && name.find('/') == std::string::npos;
}

Manifest parse_manifest(const ManifestJson& json) {
  if (json.at("schema") != 1) throw std::runtime_error("its schema is not 1: it was written by a newer cachet");
  Manifest manifest;
  json.at("run").get_to(manifest.run);
  json.at("step").get_to(manifest.step);
  for (const auto& [name, file] : json.at("files").items()) {
    if (!is_plain_name(name)) throw std::runtime_error("it names a file outside the folder");
    manifest.files[name] = {file.at("bytes").get<uint64_t>(), file.at("sha256").get<std::string>()};
  }
  return manifest;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  ManifestJson json = manifest_body(manifest);
  const std::string body = json.dump();
  json["digest"] = io::sha256_hex(body);
  return json.dump(2) + "\n";
}

Manifest manifest_from_json(const std::string& text) {
  Manifest manifest;
  try {
    manifest = parse_manifest(io::parse_json<ManifestJson>(text));
  } catch (const ManifestJson::exception&) {
    throw std::runtime_error("it is damaged");
  }
  // One way to write it, and a digest over what is written: every changed bit shows.
  if (to_json(manifest) != text) throw std::runtime_error("it does not match its digest");
  return manifest;
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestName;
  try {
    const Manifest manifest = manifest_from_json(io::read_text_file(path, kMostManifestBytes));
    for (const auto& [name, file] : manifest.files) {
      std::error_code error;
      const uint64_t bytes = std::filesystem::file_size(folder / name, error);
      if (error) throw DamagedCheckpoint((folder / name).string() + ": " + error.message());
      if (bytes != file.bytes) {
        throw DamagedCheckpoint((folder / name).string() + ": has " + std::to_string(bytes) +
                                " bytes, was written with " + std::to_string(file.bytes));
      }
    }
    return manifest;
  } catch (const io::Error& error) {
    throw DamagedCheckpoint(error.what());
  } catch (const DamagedCheckpoint&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw DamagedCheckpoint(path.string() + ": " + error.what());
  }
}

}  // namespace cachet::train
