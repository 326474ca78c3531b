#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/files/folder_lock.h"

namespace cachet::app {

/// The path of a command's output: -o, and --overwrite.
struct OutputArgument {
  std::string path;
  bool overwrite = false;
};

/// Adds -o and --overwrite. `what` ("FILE", "FOLDER") names the value of -o.
CLI::Option* add_output(CLI::App& app, OutputArgument& output, const std::string& help, const char* what = "FILE");

/// The paths that an output must not have, and the files that it may replace.
struct OutputRules {
  std::vector<std::string_view> suffixes{};     // allowed suffixes of a file (".html"); empty = any
  std::vector<std::filesystem::path> inputs{};  // inputs of the same command
  /// Whether the same command made the existing output from the same inputs. It may then replace this output. Empty if
  /// an output does not record its inputs: then only --overwrite replaces an output.
  std::function<bool(const std::filesystem::path&)> is_own{};
  bool makes_folder = false;  // whether the command creates the folder of the file
};

/// Every command that writes a file first calls this function. Throws UsageError for an unknown suffix, an input, a
/// file of a run or model folder, an existing path that is not a regular file, and a file in a missing folder. Other
/// existing files also cause UsageError, unless the command made them or --overwrite is set. A symbolic link to a
/// regular file or to nothing never counts as the command's own. With --overwrite, the caller replaces the link, and
/// the link's target stays.
void require_file_output(const OutputArgument& output, const OutputRules& rules);

/// Throws UsageError unless the path is a folder or a link to a folder, or does not exist.
void require_folder(const std::filesystem::path& path);

/// Checks a folder like require_file_output(). A folder that is not empty may be replaced only if `may_replace` accepts
/// it, and if the command made it or --overwrite is set.
void require_folder_output(const OutputArgument& output, const OutputRules& rules,
                           const std::function<bool(const std::filesystem::path&)>& may_replace);

/// Creates the folder if it is absent, and locks it, so that a command that resumes an output uses the folder alone.
/// Throws io::FileInUse if another process holds the lock, and io::Error if the folder cannot be created.
io::FolderLock locked_output_folder(const std::filesystem::path& folder);

}  // namespace cachet::app
