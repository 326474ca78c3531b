#include "cachet/hub/folders.h"

#include <system_error>

#include "cachet/io/error.h"

namespace cachet::hub {

void make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw io::Error(folder.string() + ": cannot be created (" + error.message() +
                    "); set another folder for downloads with HF_HOME and XDG_CACHE_HOME");
}

}  // namespace cachet::hub
