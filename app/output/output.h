#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/files/folder_lock.h"

namespace cachet::app {

/// Where a command writes what it makes: -o, and --overwrite.
struct OutputArgument {
  std::string path;
  bool overwrite = false;
};

/// Adds both options. `what` ("FILE", "FOLDER") names the value.
CLI::Option* add_output(CLI::App& app, OutputArgument& output, const std::string& help, const char* what = "FILE");

/// What an output must not be, and what it may replace.
struct OutputRules {
  std::vector<std::string_view> suffixes{};     // ".html": those that a file may have; none = any
  std::vector<std::filesystem::path> inputs{};  // what the same command reads
  /// Whether the existing output was made by the same command from the same things, and so may be replaced unasked.
  std::function<bool(const std::filesystem::path&)> is_own = [](const std::filesystem::path&) { return false; };
  bool makes_folder = false;  // whether the command makes the folder that the file lies in
};

/// Every command that writes a file asks here first. Throws UsageError for an unknown suffix, an input, a file of a run
/// or of a model folder, a path that exists and is not a regular file, and a file in a folder that does not exist; and,
/// unless it is the command's own or --overwrite is there, for any other file that exists. A symbolic link to a regular
/// file or to nothing is never the command's own: with --overwrite, the caller replaces the link, and the file that it
/// leads to stays.
void require_file_output(const OutputArgument& output, const OutputRules& rules);

/// Throws UsageError unless the path is one of a folder, or of a link to one, or free.
void require_folder(const std::filesystem::path& path);

/// The same for a folder: one that holds something may be replaced only where `may_replace` takes it, and then by the
/// same rule.
void require_folder_output(const OutputArgument& output, const OutputRules& rules,
                           const std::function<bool(const std::filesystem::path&)>& may_replace);

/// Makes the folder where it is not there, and locks it: a command that resumes what a folder holds has the folder for
/// itself meanwhile. Throws io::FileInUse if another process has it, io::Error if it cannot be made.
io::FolderLock locked_output_folder(const std::filesystem::path& folder);

}  // namespace cachet::app
