#include "app/output/output.h"

#include <algorithm>
#include <system_error>

#include "app/commands/command.h"
#include "cachet/io/error.h"
#include "cachet/io/files/growing_file.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code absent;
  return fs::equivalent(a, b, absent);
}

void refuse_inputs(const OutputArgument& output, const OutputRules& rules) {
  if (std::ranges::any_of(rules.inputs, [&](const fs::path& input) { return is_same(output.path, input); }))
    throw UsageError(output.path + " is an input of this command; give another path for -o");
}

void refuse_unless_replaceable(const OutputArgument& output, const OutputRules& rules) {
  if (output.overwrite || (rules.is_own && rules.is_own(output.path))) return;
  throw UsageError(output.path + " exists" +
                   (rules.is_own ? ", and this command did not write it from the same inputs" : "") +
                   "; give another path for -o, or replace it with --overwrite");
}

/// Whether a link leads to one of this process's open files, as /dev/stdout does.
bool leads_to_open_file(const fs::path& link) {
  std::error_code unreadable;
  fs::path path = link;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(path, unreadable)); ++links) {
    path = (path.parent_path() / fs::read_symlink(path, unreadable)).lexically_normal();
    if (path.string().starts_with("/proc/")) return true;
  }
  return false;
}

/// Before the work whose result is to be written.
void require_parent(const fs::path& file) {
  std::error_code unreadable;
  const fs::path parent = file.parent_path();
  if (!parent.empty() && !fs::is_directory(parent, unreadable))
    throw UsageError(file.string() + ": there is no folder " + parent.string() +
                     "; create that folder, or give another path");
}

void require_suffix(const fs::path& path, const std::vector<std::string_view>& suffixes) {
  if (suffixes.empty() || std::ranges::find(suffixes, path.extension().string()) != suffixes.end()) return;
  std::string list;
  for (size_t i = 0; i < suffixes.size(); ++i)
    list += (i == 0 ? "" : i + 1 == suffixes.size() ? " or " : ", ") + std::string(suffixes[i]);
  throw UsageError(path.string() + ": the name of this file must end in " + list);
}

}  // namespace

CLI::Option* add_output(CLI::App& app, OutputArgument& output, const std::string& help, const char* what) {
  CLI::Option* overwrite =
      app.add_flag("--overwrite", output.overwrite,
                   "Overwrite the existing output, unless it is a run, an input, or a folder with other files");
  CLI::Option* path = app.add_option("-o,--output", output.path, help)->type_name(what);
  overwrite->needs(path);
  return path;
}

void require_file_output(const OutputArgument& output, const OutputRules& rules) {
  const fs::path path = output.path;
  require_suffix(path, rules.suffixes);
  refuse_inputs(output, rules);
  if (const auto owner = train::run_of_file(path))
    throw UsageError(output.path + " is a file of the run " + owner->string() + "; give another path for -o");
  if (tasks::is_model_file(path))
    throw UsageError(output.path + " is a file of the model " + path.parent_path().string() +
                     "; give another path for -o");
  std::error_code unreadable;
  const fs::file_status status = fs::status(path, unreadable);
  const bool is_link = fs::is_symlink(fs::symlink_status(path, unreadable));
  if (!fs::exists(status) && !is_link) {
    if (!rules.makes_folder) require_parent(path);
    return;
  }
  if (fs::is_directory(status)) throw UsageError(output.path + " is a folder; give a file for -o");
  if ((fs::exists(status) && !fs::is_regular_file(status)) || (is_link && leads_to_open_file(path)))
    throw UsageError(output.path + " is not a regular file; give another path for -o");
  if (is_link && !output.overwrite)
    throw UsageError(output.path +
                     " is a symbolic link; give another path for -o, or replace the link by a file with --overwrite");
  if (is_link) return;
  refuse_unless_replaceable(output, rules);
}

void require_folder(const fs::path& path) {
  std::error_code unreadable;
  if (fs::is_directory(path, unreadable)) return;
  const fs::file_status status = fs::symlink_status(path, unreadable);
  if (fs::is_symlink(status) && !fs::exists(path, unreadable))
    throw UsageError(path.string() +
                     " is a symbolic link to a folder that does not exist; create that folder, or give another folder");
  if (fs::exists(status)) throw UsageError(path.string() + " is not a folder; give a folder for -o");
}

void require_folder_output(const OutputArgument& output, const OutputRules& rules,
                           const std::function<bool(const fs::path&)>& may_replace) {
  refuse_inputs(output, rules);
  require_folder(output.path);
  std::error_code unreadable;
  const fs::file_status status = fs::status(output.path, unreadable);
  if (!fs::exists(status) || (fs::is_directory(status) && fs::is_empty(output.path, unreadable))) return;
  if (!may_replace(output.path))
    throw UsageError(output.path + " exists, but its contents are not an output of this command; give another folder");
  refuse_unless_replaceable(output, rules);
}

io::FolderLock locked_output_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw io::Error(folder.string() + ": the folder cannot be created: " + failed.message());
  if (auto lock = io::FolderLock::take_if_free(folder)) return std::move(*lock);
  throw io::FileInUse(folder.string() + ": another process is writing to this folder; wait for it, or stop it first");
}

}  // namespace cachet::app
