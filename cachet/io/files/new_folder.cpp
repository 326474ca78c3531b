#include "cachet/io/files/new_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/folder_path.h"

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
  if (error) throw Error(temporary.string() + ": the folder cannot be made: " + error.message());
  return temporary;
}

/// The lock of a new folder. Nothing if a process that removes what others left has taken the folder for such.
std::optional<FolderLock> lock_of(const fs::path& folder) {
  std::error_code error;
  try {
    auto lock = FolderLock::take_if_free(folder);
    if (lock && fs::is_directory(folder, error)) return lock;
  } catch (const Error&) {
    if (fs::is_directory(folder, error)) throw;
  }
  return std::nullopt;
}

/// Whether a name is one that temporary_path() makes for `path`.
bool is_temporary_of(const fs::path& path, const std::string& name) {
  const std::string mark = "." + path.filename().string() + ".tmp-";
  return name.starts_with(mark) && name.find_first_not_of("0123456789-", mark.size()) == std::string::npos;
}

/// Removes what killed processes left. A file system without locks does not show who writes, so that all of it stays.
void remove_left_overs(const fs::path& path) {
  std::error_code error;
  const fs::path above = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(above, error), end; !error && entry != end; entry.increment(error))
    if (is_temporary_of(path, entry->path().filename().string())) left.push_back(entry->path());
  for (const fs::path& folder : left) {
    if (!fs::is_directory(fs::symlink_status(folder, error)) || FolderLock::is_taken(folder)) continue;
    try {
      if (const auto lock = FolderLock::take_if_free(folder)) fs::remove_all(folder, error);
    } catch (const Error&) {  // it is gone already
    }
  }
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
  remove_left_overs(path_);
  do {
    temporary_ = make_temporary(path_);
  } while (!(lock_ = lock_of(temporary_)));
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
    lock_.reset();
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
    lock_.reset();
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
  lock_.reset();
  fs::remove_all(old, ignored);
}

}  // namespace cachet::io
