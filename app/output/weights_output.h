#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace cachet::app {

/// What commands that write a .safetensors file put next to its tensors: "pt", which Python's libraries look for before
/// they load one, and of which run or model the weights are ("run 1f0c…").
std::map<std::string, std::string> weights_metadata(const std::string& architecture, const std::string& source);

/// Whether a file holds weights of that run or model, whichever command wrote it.
bool holds_weights_of(const std::filesystem::path& file, const std::string& source);

}  // namespace cachet::app
