#include "cachet/config/installed_folder.h"

#include <system_error>

namespace cachet::config {

namespace fs = std::filesystem;

std::vector<fs::path> installed_folders(const fs::path& name) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return folders;
  for (const char* above : {"../share/cachet", "../.."})  // of <prefix>/bin/cachet, of build/<preset>/cachet
    if (fs::is_directory(program / above / name, error)) folders.push_back((program / above / name).lexically_normal());
  return folders;
}

std::optional<fs::path> installed_folder(const fs::path& name) {
  const std::vector<fs::path> folders = installed_folders(name);
  if (folders.empty()) return std::nullopt;
  return folders.front();
}

}  // namespace cachet::config
