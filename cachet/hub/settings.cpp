#include "cachet/hub/settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::hub {
namespace {

namespace fs = std::filesystem;

/// The value of the first of these variables that is set and not empty.
template <class... Names>
std::string variable(Names... names) {
  for (const char* name : {names...})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return {};
}

bool is_on(const std::string& value) {
  std::string upper = value;
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char byte) { return static_cast<char>(std::toupper(byte)); });
  constexpr std::array<std::string_view, 4> kOn{"1", "ON", "YES", "TRUE"};
  return std::ranges::find(kOn, upper) != kOn.end();
}

fs::path home() {
  const std::string folder = variable("HOME");
  if (folder.empty())
    throw io::Error("HOME is not set, so there is no folder for downloads; set HF_HOME and XDG_CACHE_HOME");
  return folder;
}

fs::path expanded(const std::string& path) { return path.starts_with("~/") ? home() / path.substr(2) : fs::path(path); }

fs::path cache_home() {
  const std::string named = variable("XDG_CACHE_HOME");
  return named.empty() ? home() / ".cache" : expanded(named);
}

fs::path hub_home() {
  const std::string named = variable("HF_HOME");
  return named.empty() ? cache_home() / "huggingface" : expanded(named);
}

std::string without_spaces(std::string text) {
  const auto is_space = [](unsigned char byte) { return std::isspace(byte) != 0; };
  text.erase(std::find_if_not(text.rbegin(), text.rend(), is_space).base(), text.end());
  text.erase(text.begin(), std::ranges::find_if_not(text, is_space));
  return text;
}

std::string find_token() {
  if (is_on(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return {};
  constexpr uint64_t kMaxBytes = 4096;
  std::string origin = "HF_TOKEN", token = without_spaces(variable("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"));
  if (token.empty()) {
    const std::string named = variable("HF_TOKEN_PATH");
    const fs::path file = named.empty() ? hub_home() / "token" : expanded(named);
    std::error_code absent;
    if (!fs::is_regular_file(file, absent)) return {};
    origin = file.string();
    token = without_spaces(io::read_text_file(file, kMaxBytes));
  }
  if (!std::ranges::all_of(token, [](unsigned char byte) { return byte > 0x20 && byte < 0x7F; }))
    throw io::Error(
        origin +
        ": a token of the hub must not have spaces or characters outside ASCII; correct the token, or remove it");
  return token;
}

}  // namespace

HubSettings hub_settings() {
  HubSettings settings;
  if (std::string endpoint = variable("HF_ENDPOINT"); !endpoint.empty()) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    settings.endpoint = endpoint;
  }
  settings.token = find_token();
  const std::string cache = variable("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE");
  settings.cache = cache.empty() ? hub_home() / "hub" : expanded(cache);
  settings.downloads = cache_home() / "cachet";
  settings.offline = is_on(variable("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
  return settings;
}

}  // namespace cachet::hub
