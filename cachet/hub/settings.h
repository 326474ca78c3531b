#pragma once

#include <filesystem>
#include <string>

namespace cachet::hub {

/// Address and local folders for files of the Hugging Face hub. The hub's own client reads the same environment
/// variables as Cachet.
struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT
  std::string token{};                // HF_TOKEN, else the file HF_TOKEN_PATH, else $HF_HOME/token; "" = none
  std::filesystem::path cache{};      // HF_HUB_CACHE, else $HF_HOME/hub
  std::filesystem::path downloads{};  // files of other addresses: $XDG_CACHE_HOME/cachet
  bool offline = false;               // HF_HUB_OFFLINE
};

/// Returns the settings that the environment variables give. The default of HF_HOME is $XDG_CACHE_HOME/huggingface,
/// and the default of XDG_CACHE_HOME is ~/.cache. If HF_HUB_DISABLE_IMPLICIT_TOKEN is set, no token is sent. Throws
/// io::Error if the token has a control character, or if no environment variable determines the folder of the
/// cache.
HubSettings hub_settings();

}  // namespace cachet::hub
