#include "cachet/io/new_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "cachet/io/atomic_file.h"
#include "cachet/io/error.h"
#include "cachet/io/folder_path.h"

namespace cachet::io {
namespace {

namespace fs = std::filesystem;

/// A name that nothing has: a process of the same number may have been killed here before.
fs::path old_path(const fs::path& path) {
  std::string suffix = ".old-" + std::to_string(getpid());
  while (true) {
    fs::path old = path;
    old.replace_filename(name_with_suffix("." + path.filename().string(), suffix));
    std::error_code absent;
    if (!fs::exists(fs::symlink_status(old, absent))) return old;
    suffix += "-";
  }
}

/// Makes a folder that was not there before: what an earlier process of the same number left, or a link, is not used.
fs::path make_temporary(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  fs::path temporary = temporary_path(path);
  bool is_new = false;
  while (!error && !(is_new = fs::create_directory(temporary, error)) && !error) temporary = temporary_path(path);
  if (error) throw Error(temporary.string() + ": cannot be made: " + error.message());
  return temporary;
}

/// By anything but an empty folder.
bool is_taken(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  return fs::exists(status) && !(fs::is_directory(status) && fs::is_empty(path, error));
}

[[noreturn]] void refuse(const fs::path& path) {
  throw Error(path.string() + ": exists already; choose another name, or remove it");
}

/// Gives each the other's name in one step; false where the file system cannot.
bool exchange_names(const fs::path& a, const fs::path& b) {
  return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace

NewFolder::NewFolder(fs::path path, Taken taken) : path_(without_last_separator(std::move(path))) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path_, error)) && fs::is_directory(path_, error)) path_ = fs::canonical(path_);
  const bool is_folder = fs::is_directory(fs::symlink_status(path_, error));
  replaces_ = is_taken(path_);
  if (replaces_ && !(is_folder && taken == Taken::replaced)) refuse(path_);
  temporary_ = make_temporary(path_);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void NewFolder::finish() {
  sync_directory(temporary_);
  std::error_code ignored;
  if (!replaces_ || !fs::exists(fs::symlink_status(path_, ignored))) {
    try {
      rename_durably(temporary_, path_);  // which takes the name of an empty folder, and of nothing else
    } catch (const Error&) {
      if (is_taken(path_)) refuse(path_);  // by another process, meanwhile
      throw;
    }
    return temporary_.clear();
  }
  if (exchange_names(temporary_, path_)) {
    try {
      sync_directory(path_.has_parent_path() ? path_.parent_path() : ".");
    } catch (...) {
      exchange_names(temporary_, path_);
      throw;
    }
    fs::remove_all(std::exchange(temporary_, {}), ignored);
    return;
  }
  const fs::path old = old_path(path_);
  std::error_code failed;
  fs::rename(path_, old, failed);
  if (failed) throw Error(path_.string() + ": cannot be replaced: " + failed.message());
  try {
    rename_durably(temporary_, path_);
  } catch (...) {
    fs::rename(path_, temporary_, ignored);  // it may have its name already
    fs::rename(old, path_, ignored);
    throw;
  }
  temporary_.clear();
  fs::remove_all(old, ignored);
}

}  // namespace cachet::io
