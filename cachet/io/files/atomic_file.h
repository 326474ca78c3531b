#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/error.h"
#include "cachet/io/files/file_system.h"

namespace cachet::io {

/// Replaces the file at `path` by a file with the contents `bytes`. Readers, even after a crash or a power cut, find
/// either the old file or the whole new file. The function writes a temporary file (`.<name>.tmp-…`) in the same
/// folder, calls fsync, renames the file, and calls fsync for the folder. On failure, the temporary file is removed,
/// `path` is unchanged, and io::Error names the path, the step, the number of bytes and the reason. If only the last
/// fsync (after the rename) fails, the new file is visible, but may not survive a power cut.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                           FileSystem& file_system = FileSystem::real());
void write_file_atomically(const std::filesystem::path& path, std::string_view text,
                           FileSystem& file_system = FileSystem::real());

/// Writes a new file and calls fsync, without a rename: for files inside a folder that is renamed as a whole. Throws
/// io::Error if `path` already exists. Does not call fsync for the folder that contains the file.
void write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                    FileSystem& file_system = FileSystem::real());
void write_new_file(const std::filesystem::path& path, std::string_view text,
                    FileSystem& file_system = FileSystem::real());

/// Renames a file or folder to `to`, replaces an existing `to`, and calls fsync for the folder of `to`.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to,
                    FileSystem& file_system = FileSystem::real());

/// Calls fsync for a folder, so that its entries survive a power cut.
void sync_directory(const std::filesystem::path& path, FileSystem& file_system = FileSystem::real());

/// Returns the number of bytes that can still be written on the file system of `path` (an existing file or folder).
uint64_t free_space(const std::filesystem::path& path, FileSystem& file_system = FileSystem::real());

/// Throws io::Error if `bytes` do not fit: "<path>: needs 1200 bytes, but only 300 bytes are free on its file system".
void require_free_space(const std::filesystem::path& path, uint64_t bytes,
                        FileSystem& file_system = FileSystem::real());

/// The maximum length of a file or folder name on Linux, in bytes.
inline constexpr size_t kMaxNameBytes = 255;
[[deprecated("kMaxNameBytes")]] inline constexpr size_t kMostNameBytes = kMaxNameBytes;

/// Returns `name` followed by `suffix`. Cuts the end of `name` so that the whole has at most kMaxNameBytes, without
/// cutting a UTF-8 character in two. `suffix` has at most kMaxNameBytes.
std::string name_with_suffix(std::string_view name, std::string_view suffix);

/// Returns a temporary path next to `path`: `.<name>.tmp-<process>-<number>`. A long name is cut. Each call returns a
/// different path at which no file exists. A file with a temporary name may already exist, because a killed process may
/// have had the same process number (as in containers).
std::filesystem::path temporary_path(const std::filesystem::path& path);

/// Whether the name of a path has the form of the names that temporary_path() creates. If a process is killed during
/// write_file_atomically(), a file with a temporary name remains.
bool is_temporary_file(const std::filesystem::path& path);

}  // namespace cachet::io
