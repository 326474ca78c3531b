#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace cachet::train {

/// The list of the files in a checkpoint folder, stored in manifest.json. manifest.json is written last and has its own
/// digest, so every changed bit of a checkpoint is detected.
struct Manifest {
  struct File {
    uint64_t bytes = 0;
    std::string sha256;
  };
  std::string run;  // id of the run that wrote the checkpoint
  int64_t step = 0;
  std::map<std::string, File> files;
};

inline constexpr const char* kManifestName = "manifest.json";

std::string to_json(const Manifest& manifest);

/// Parses a manifest. `name` is the file's name in messages. Throws io::Error if to_json cannot have written the text:
/// the text is damaged, or has file names that lead out of the folder. Throws io::NewerSchema.
Manifest manifest_from_json(const std::string& text, const std::string& name = kManifestName);

/// Reads the manifest of a folder. Checks the manifest's digest and the sizes of the files, but not their contents.
/// Throws DamagedCheckpoint and io::NewerSchema.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace cachet::train
