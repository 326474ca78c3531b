#pragma once

#include <filesystem>
#include <string>

namespace cachet::hub {

/// Where files of the Hugging Face hub come from and where they lie. The variables are those of the hub's own client.
struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT
  std::string token{};                // HF_TOKEN, else the file HF_TOKEN_PATH, else $HF_HOME/token; "" = none
  std::filesystem::path cache{};      // HF_HUB_CACHE, else $HF_HOME/hub
  std::filesystem::path downloads{};  // files of other addresses: $XDG_CACHE_HOME/cachet
  bool offline = false;               // HF_HUB_OFFLINE
};

/// The settings that the environment asks for. HF_HOME is $XDG_CACHE_HOME/huggingface if it is not set, and
/// XDG_CACHE_HOME is ~/.cache. With HF_HUB_DISABLE_IMPLICIT_TOKEN no token is sent. Throws io::Error for a token with a
/// control character, and if neither a variable nor HOME names the folder of the cache.
HubSettings hub_settings();

}  // namespace cachet::hub
