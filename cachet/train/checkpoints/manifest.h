#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace cachet::train {

/// The list of files in a checkpoint folder. It is stored in manifest.json, which is written last and has its own
/// digest, so that every changed bit of a checkpoint is detected.
struct Manifest {
  struct File {
    uint64_t bytes = 0;
    std::string sha256;
  };
  std::string run;  // id of the run that wrote it
  int64_t step = 0;
  std::map<std::string, File> files;
};

inline constexpr const char* kManifestName = "manifest.json";

std::string to_json(const Manifest& manifest);

/// Parses a manifest. `name` is the file's name in messages. Throws io::Error if to_json could not have written the
/// text, because it is damaged or has file names that lead out of the folder; io::NewerSchema.
Manifest manifest_from_json(const std::string& text, const std::string& name = kManifestName);

/// Reads the manifest of a folder, and checks its digest and the sizes of the files, but not their contents. Throws
/// DamagedCheckpoint, io::NewerSchema.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace cachet::train
