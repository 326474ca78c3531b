#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cachet/hub/download.h"
#include "cachet/hub/remote_name.h"
#include "cachet/hub/settings.h"

namespace cachet::hub {

/// Fetched weights, which are on this machine.
struct FetchedWeights {
  std::filesystem::path file;  // weights file; for timm's repositories, config.json is next to it
  std::string origin;          // "hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k@COMMIT/model.safetensors"
};

/// Downloads weights if the cache does not have them, and returns their path. `name`: hf:OWNER/NAME, optionally with
/// @REVISION and /FILE, or an https address, which may end with #sha256=DIGITS.
///
/// From a repository without /FILE, takes the first of these that exists: model.safetensors, its index with all parts,
/// the only safetensors file, pytorch_model.bin, the only file .bin, .pth or .pt. A branch or tag is looked up once in
/// a process. If the hub cannot be reached, the last commit in the cache is used, and a note reports this. A file of
/// another address is downloaded once.
///
/// Throws io::Error with advice for the user, for every fault.
FetchedWeights fetch_weights(const std::string& name, const HubSettings& settings, const DownloadOptions& options = {});

/// Returns the path of the config.json of a repository of the hub, from the cache or downloaded, without the weights.
/// Empty if the repository has none, and for other addresses. Throws as fetch_weights() does.
std::optional<std::filesystem::path> fetch_config(const std::string& name, const HubSettings& settings,
                                                  const DownloadOptions& options = {});

}  // namespace cachet::hub
