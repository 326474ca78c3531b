#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace cachet::app {

/// Returns the metadata of a .safetensors file that a command writes: "pt", which Python's libraries check before they
/// load a file, and the run or model of the weights ("run 1f0c…").
std::map<std::string, std::string> weights_metadata(const std::string& architecture, const std::string& source);

/// Whether a file contains weights of this run or model. The command that wrote the file does not matter.
bool holds_weights_of(const std::filesystem::path& file, const std::string& source);

}  // namespace cachet::app
