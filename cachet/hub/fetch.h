#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cachet/hub/download.h"
#include "cachet/hub/remote_name.h"
#include "cachet/hub/settings.h"

namespace cachet::hub {

/// Weights that were fetched to this machine.
struct FetchedWeights {
  std::filesystem::path file;  // weights file; for timm's repositories, config.json is next to it
  std::string origin;          // "hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k@COMMIT/model.safetensors"
};

/// Downloads weights if the cache does not have them, and returns their path. `name` is hf:OWNER/NAME (optionally with
/// @REVISION and /FILE), or an https address (optionally with #sha256=DIGITS at the end).
///
/// If `name` has no /FILE, the file is the first of these that the repository has: model.safetensors, its index with
/// all parts, the only .safetensors file, pytorch_model.bin, the only .bin, .pth or .pt file. A branch or tag is looked
/// up once per process. If the hub cannot be reached, the last commit in the cache is used, and a note reports this. A
/// file from an https address outside the hub is downloaded only if the cache does not have it.
///
/// If anything fails, throws io::Error with advice for the user.
FetchedWeights fetch_weights(const std::string& name, const HubSettings& settings, const DownloadOptions& options = {});

/// Returns the path of config.json of a hub repository, and downloads it if the cache lacks it. Returns an empty value
/// if the repository has no config.json, or if the address is outside the hub. Throws like fetch_weights().
std::optional<std::filesystem::path> fetch_config(const std::string& name, const HubSettings& settings,
                                                  const DownloadOptions& options = {});

}  // namespace cachet::hub
