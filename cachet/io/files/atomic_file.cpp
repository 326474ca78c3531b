#include "cachet/io/files/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

namespace cachet::io {
namespace {

constexpr std::string_view kTemporaryMark = ".tmp-";

[[noreturn]] void fail_call(const std::filesystem::path& path, const std::string& step, int error) {
  throw Error(path.string() + ": " + step + " failed: " + std::generic_category().message(error));
}

std::string byte_text(uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

void write_all(FileSystem& file_system, int file, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  constexpr size_t kMaxAtOnce = size_t{1} << 30;  // Linux writes less than 2 GiB in one call
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = file_system.write(file, bytes.data() + written, std::min(bytes.size() - written, kMaxAtOnce));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      fail_call(path, "writing " + byte_text(bytes.size()) + " (" + std::to_string(written) + " were written)",
                count < 0 ? errno : EIO);
    }
    written += static_cast<size_t>(count);
  }
}

// Creates `path`, which must not exist, and has its bytes on the disk when it returns. `shown` is the name in messages.
void create_synced(FileSystem& file_system, const std::filesystem::path& path, std::span<const std::byte> bytes,
                   const std::filesystem::path& shown) {
  const int file = file_system.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail_call(shown, "creating a file for " + byte_text(bytes.size()), errno);
  bool is_open = true;
  try {
    write_all(file_system, file, bytes, shown);
    if (file_system.fsync(file) != 0) fail_call(shown, "fsync of " + byte_text(bytes.size()), errno);
    is_open = false;  // Linux closes the descriptor even when close() reports an error
    if (file_system.close(file) != 0) fail_call(shown, "closing a file of " + byte_text(bytes.size()), errno);
  } catch (...) {
    if (is_open) file_system.close(file);
    file_system.unlink(path);
    throw;
  }
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                           FileSystem& file_system) {
  if (!path.has_filename()) throw Error(path.string() + ": must be the path of a file, not of a folder");
  const std::filesystem::path temporary = temporary_path(path);
  create_synced(file_system, temporary, bytes, path);
  if (file_system.rename(temporary, path) != 0) {
    const int error = errno;
    file_system.unlink(temporary);
    fail_call(path, "renaming a temporary file of " + byte_text(bytes.size()), error);
  }
  sync_directory(folder_of(path), file_system);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text, FileSystem& file_system) {
  write_file_atomically(path, std::as_bytes(std::span(text)), file_system);
}

void write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes, FileSystem& file_system) {
  create_synced(file_system, path, bytes, path);
}

void write_new_file(const std::filesystem::path& path, std::string_view text, FileSystem& file_system) {
  write_new_file(path, std::as_bytes(std::span(text)), file_system);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to, FileSystem& file_system) {
  if (file_system.rename(from, to) != 0) fail_call(to, "renaming " + in_quotes(from.string()), errno);
  sync_directory(folder_of(to), file_system);
  if (folder_of(from) != folder_of(to)) sync_directory(folder_of(from), file_system);
}

void sync_directory(const std::filesystem::path& path, FileSystem& file_system) {
  const int folder = file_system.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) fail_call(path, "opening the folder", errno);
  const int error = file_system.fsync(folder) == 0 ? 0 : errno;
  const bool is_closed = file_system.close(folder) == 0;
  if (error != 0) fail_call(path, "fsync of the folder", error);
  if (!is_closed) fail_call(path, "closing the folder", errno);
}

uint64_t free_space(const std::filesystem::path& path, FileSystem& file_system) {
  uint64_t bytes = 0;
  if (file_system.free_bytes(path, &bytes) != 0) fail_call(path, "reading the free space", errno);
  return bytes;
}

void require_free_space(const std::filesystem::path& path, uint64_t bytes, FileSystem& file_system) {
  const uint64_t available = free_space(path, file_system);
  if (available >= bytes) return;
  throw Error(path.string() + ": the file needs " + byte_text(bytes) + ", but only " + byte_text(available) +
              " are free on its file system");
}

std::string name_with_suffix(std::string_view name, std::string_view suffix) {
  const auto is_inside_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  size_t kept = std::min(name.size(), kMaxNameBytes - suffix.size());
  if (kept < name.size())
    while (kept > 0 && is_inside_character(name[kept])) --kept;
  return std::string(name.substr(0, kept)).append(suffix);
}

std::filesystem::path temporary_path(const std::filesystem::path& path) {
  static std::atomic<uint64_t> count = 0;
  const std::string mark = std::string(kTemporaryMark) + std::to_string(getpid()) + "-";
  while (true) {
    const std::string suffix = mark + std::to_string(count++);
    std::filesystem::path temporary = folder_of(path) / name_with_suffix("." + path.filename().string(), suffix);
    std::error_code absent;
    if (!std::filesystem::exists(std::filesystem::symlink_status(temporary, absent))) return temporary;
  }
}

bool is_temporary_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') && name.find(kTemporaryMark) != std::string::npos;
}

}  // namespace cachet::io
