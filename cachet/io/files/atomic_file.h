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

/// Replaces the file at `path` by these bytes so that a reader, a crash or a power cut sees the old file or the whole
/// new one: a temporary name (`.<name>.tmp-…`) in the same folder, fsync, rename, fsync of the folder. On failure the
/// temporary file is removed, `path` is as before, and io::Error names the path, the step, the number of bytes and the
/// reason (only a failure of the last fsync comes after the rename: then the new file is seen, but may not outlive a
/// power cut).
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                           FileSystem& file_system = FileSystem::real());
void write_file_atomically(const std::filesystem::path& path, std::string_view text,
                           FileSystem& file_system = FileSystem::real());

/// Writes a new file and fsyncs it, without the rename: for files inside a folder that is renamed as a whole. Refuses a
/// path that exists; the folder is not synced.
void write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                    FileSystem& file_system = FileSystem::real());
void write_new_file(const std::filesystem::path& path, std::string_view text,
                    FileSystem& file_system = FileSystem::real());

/// Renames a file or folder over `to` and fsyncs the folder that holds it.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to,
                    FileSystem& file_system = FileSystem::real());

/// Makes the entries of a folder outlive a power cut.
void sync_directory(const std::filesystem::path& path, FileSystem& file_system = FileSystem::real());

/// Bytes that may still be written on the file system that holds `path` (an existing file or folder).
uint64_t free_space(const std::filesystem::path& path, FileSystem& file_system = FileSystem::real());

/// Throws io::Error unless `bytes` fit: "<path>: needs 1200 bytes, but only 300 bytes are free on its file system".
void require_free_space(const std::filesystem::path& path, uint64_t bytes,
                        FileSystem& file_system = FileSystem::real());

/// The most bytes that Linux takes for the name of a file or folder.
inline constexpr size_t kMaxNameBytes = 255;
[[deprecated("kMaxNameBytes")]] inline constexpr size_t kMostNameBytes = kMaxNameBytes;

/// `name`, cut at its end so that `suffix` fits after it within kMaxNameBytes, and then `suffix`. No UTF-8 character
/// is cut in two. `suffix` has at most kMaxNameBytes.
std::string name_with_suffix(std::string_view name, std::string_view suffix);

/// A path in the same folder for what will get the name `path` when it is whole: `.<name>.tmp-<process>-<number>`. Each
/// call returns another path, at which nothing lies yet: an earlier process of the same number, as containers have
/// them, may have been killed. A long name is cut.
std::filesystem::path temporary_path(const std::filesystem::path& path);

/// True for names that temporary_path() makes. write_file_atomically leaves such a file if the process is
/// killed.
bool is_temporary_file(const std::filesystem::path& path);

}  // namespace cachet::io
