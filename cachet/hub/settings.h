#pragma once

#include <filesystem>
#include <string>

namespace cachet::hub {

/// The source and the folders of files of the Hugging Face hub. The variables are those of the hub's own client.
struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT
  std::string token{};                // HF_TOKEN, else the file HF_TOKEN_PATH, else $HF_HOME/token; "" = none
  std::filesystem::path cache{};      // HF_HUB_CACHE, else $HF_HOME/hub
  std::filesystem::path downloads{};  // files of other addresses: $XDG_CACHE_HOME/cachet
  bool offline = false;               // HF_HUB_OFFLINE
};

/// Returns the settings of the environment. If HF_HOME is not set, it is $XDG_CACHE_HOME/huggingface, and
/// XDG_CACHE_HOME is ~/.cache. With HF_HUB_DISABLE_IMPLICIT_TOKEN no token is sent. Throws io::Error for a token with a
/// control character, and if neither a variable nor HOME gives the folder of the cache.
HubSettings hub_settings();

}  // namespace cachet::hub
