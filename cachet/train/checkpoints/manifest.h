#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace cachet::train {

/// What a checkpoint folder consists of. The file that holds it, manifest.json, is written last and carries its own
/// digest, so that no bit of a checkpoint can change unnoticed.
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

/// `name` is the file's, in messages. Throws io::Error for a text that to_json would not have written: damaged, or with
/// file names that lead out of the folder; io::NewerSchema.
Manifest manifest_from_json(const std::string& text, const std::string& name = kManifestName);

/// The manifest of a folder, checked against itself and the sizes of the files, not their contents. Throws
/// DamagedCheckpoint, io::NewerSchema.
Manifest read_manifest(const std::filesystem::path& folder);

}  // namespace cachet::train
