#include "cachet/io/new_folder.h"

#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "cachet/io/atomic_file.h"
#include "cachet/io/error.h"

namespace cachet::io {
namespace {

namespace fs = std::filesystem;

/// Without the separator that a user's completion leaves behind it.
fs::path named(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

fs::path beside(fs::path path, const char* mark) {
  return path.replace_filename("." + path.filename().string() + mark + std::to_string(getpid()));
}

}  // namespace

NewFolder::NewFolder(fs::path path, Taken taken) : path_(named(std::move(path))) {
  std::error_code error;
  const bool is_folder = fs::is_directory(fs::symlink_status(path_, error));
  const bool is_taken = fs::exists(fs::symlink_status(path_, error)) && !(is_folder && fs::is_empty(path_, error));
  if (is_taken && !(is_folder && taken == Taken::replaced))
    throw Error(path_.string() + ": exists already; choose another name, or remove it");
  temporary_ = beside(path_, ".tmp-");
  fs::create_directories(temporary_, error);
  if (error) throw Error(temporary_.string() + ": cannot be made: " + error.message());
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void NewFolder::finish() {
  sync_directory(temporary_);
  std::error_code ignored;
  const fs::path old = beside(path_, ".old-");
  const bool replaces = fs::exists(fs::symlink_status(path_, ignored)) && !fs::is_empty(path_, ignored);
  if (replaces) rename_durably(path_, old);
  rename_durably(temporary_, path_);
  temporary_.clear();
  if (replaces) fs::remove_all(old, ignored);
}

}  // namespace cachet::io
