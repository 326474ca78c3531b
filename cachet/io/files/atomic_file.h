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

/// Replaces the file at `path` by these bytes. A reader, a crash or a power cut sees either the old file or the whole
/// new file: writes a temporary file (`.<name>.tmp-…`) in the same folder, then fsync, rename, fsync of the folder. On
/// failure, the temporary file is removed, `path` is unchanged, and io::Error names the path, the step, the number of
/// bytes and the reason. Only the last fsync follows the rename: if it fails, the new file is seen, but may not survive
/// a power cut.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                           FileSystem& file_system = FileSystem::real());
void write_file_atomically(const std::filesystem::path& path, std::string_view text,
                           FileSystem& file_system = FileSystem::real());

/// Writes a new file and fsyncs it, without a rename: for files inside a folder that is renamed as a whole. Throws
/// io::Error if the path exists. Does not sync the folder.
void write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                    FileSystem& file_system = FileSystem::real());
void write_new_file(const std::filesystem::path& path, std::string_view text,
                    FileSystem& file_system = FileSystem::real());

/// Renames a file or folder to `to`, which is replaced, and fsyncs the folder of `to`.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to,
                    FileSystem& file_system = FileSystem::real());

/// Syncs the entries of a folder, so that they survive a power cut.
void sync_directory(const std::filesystem::path& path, FileSystem& file_system = FileSystem::real());

/// Returns how many bytes can still be written on the file system of `path` (an existing file or folder).
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

/// Returns a temporary path next to `path`: `.<name>.tmp-<process>-<number>`. Each call returns a different path, at
/// which there is no file yet: an earlier process with the same number (as in containers) may have been killed. A long
/// name is cut.
std::filesystem::path temporary_path(const std::filesystem::path& path);

/// Whether temporary_path() made this name. If the process is killed, write_file_atomically() leaves such a
/// file.
bool is_temporary_file(const std::filesystem::path& path);

}  // namespace cachet::io
