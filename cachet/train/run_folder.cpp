#include "cachet/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <system_error>

#include "cachet/io/atomic_file.h"
#include "cachet/io/read_file.h"
#include "cachet/train/environment.h"
#include "cachet/train/resume_rules.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using RunJson = nlohmann::ordered_json;

constexpr const char* kRunName = "run.json";
constexpr const char* kCommandName = "command.txt";

std::string utc_now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, format, &utc);
  return text;
}

std::string random_id() {
  std::random_device device;
  char text[17];
  std::snprintf(text, sizeof text, "%08x%08x", device(), device());
  return text;
}

std::set<std::string> unwritten_keys(const config::Document& document) {
  std::set<std::string> keys;
  for (const config::Document::Value& value : document.resolved())
    if (value.origin.source == config::kDefaultSource) keys.insert(value.key);
  return keys;
}

/// A command as a shell would take it.
std::string quoted(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    if (!line.empty()) line += ' ';
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-./=:,+@%") == std::string::npos;
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line + "\n";
}

void append_line(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::app);
  if (!(file << text << std::flush)) throw std::runtime_error(path.string() + ": cannot be written");
}

std::shared_ptr<void> lock_folder(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error(path.string() + ": " + std::generic_category().message(errno));
  std::shared_ptr<void> lock(nullptr, [file](void*) { ::close(file); });
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    throw std::runtime_error(path.string() + ": another process is training this run; wait for it or stop it first");
  }
  return lock;
}

/// `latest` always names a run: the link is made under another name and takes its place in one step.
void point_latest(const fs::path& run) {
  const fs::path link = run.parent_path() / "latest";
  if (fs::exists(fs::symlink_status(link)) && !fs::is_symlink(link)) return;  // somebody's own file
  const fs::path fresh = run.parent_path() / (".latest-" + random_id());
  std::error_code error;
  fs::create_directory_symlink(run.filename(), fresh, error);
  if (!error) fs::rename(fresh, link, error);
  if (error) fs::remove(fresh, error);  // a file system without links: `latest` is a convenience
}

}  // namespace

std::string RunFolder::to_json(const Identity& run) {
  RunJson values = RunJson::object();
  for (const auto& [key, value] : run.values) values[key] = value;
  RunJson json{
      {"schema", 1}, {"id", run.id}, {"recipe", run.recipe}, {"created", run.created}, {"values", std::move(values)}};
  json["defaults"] = run.defaults;
  if (run.description) json["description"] = RunJson::parse(train::to_json(*run.description));
  return json.dump(2) + "\n";
}

RunFolder::Identity RunFolder::read_identity(const fs::path& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path.string() + ": there is no such run folder");
  const fs::path file = path / kRunName;
  if (!fs::exists(file)) {
    throw std::runtime_error(path.string() + ": is no run folder (it has no " + std::string(kRunName) + ")");
  }
  try {
    const RunJson json = RunJson::parse(io::read_text_file(file, 16 << 20));
    Identity run{json.at("id"),
                 json.value("recipe", ""),
                 json.at("created"),
                 json.at("values").get<RecipeValues>(),
                 json.value("defaults", std::set<std::string>()),
                 {}};
    if (json.contains("description")) run.description = run_description_from_json(json.at("description").dump());
    return run;
  } catch (const RunJson::exception& error) {
    throw std::runtime_error(file.string() + ": damaged: " + error.what());
  }
}

RunFolder RunFolder::create(const fs::path& path, const WrittenRecipe& recipe, const config::Document& document,
                            const std::vector<std::string>& command, const std::map<std::string, std::string>& more) {
  if (fs::exists(fs::symlink_status(path))) {
    throw std::runtime_error(path.string() + ": exists already; go on with it by --resume, or choose another name");
  }
  RunFolder folder;
  folder.run_ = {
      random_id(), recipe.name, utc_now("%Y-%m-%dT%H:%M:%SZ"), recipe_values(document), unwritten_keys(document), {}};
  // Filled under another name, so that a folder by this name is a run that can be resumed.
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path fresh = parent / std::string(".").append(path.filename().string()).append("-").append(folder.id());
  try {
    fs::create_directories(parent);
    fs::create_directory(fresh);
    folder.lock_ = lock_folder(fresh);
    folder.path_ = fresh;
    fs::create_directory(folder.checkpoints());
    io::write_file_atomically(folder.recipe(), recipe.text);
    io::write_file_atomically(folder.resolved(), document.resolved_toml(/*with_origins=*/true));
    io::write_file_atomically(fresh / kCommandName, quoted(command));
    io::write_file_atomically(folder.environment(), train::to_json(train::environment()));
    io::write_file_atomically(fresh / kRunName, to_json(folder.run_));
    for (const auto& [name, text] : more) io::write_file_atomically(fresh / name, text);
    io::rename_durably(fresh, path);
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error(path.string() + ": cannot be made: " + error.code().message());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
  point_latest(path);
  folder.path_ = path;
  return folder;
}

RunFolder RunFolder::resume(const fs::path& path, const config::Document& document,
                            const std::vector<std::string>& command) {
  RunFolder folder = open(path);
  folder.lock_ = lock_folder(path);
  folder.run_ = read_identity(path);
  const RecipeChanges changes = recipe_changes(folder.run_.values, document);
  if (!changes.refused.empty()) {
    std::string message = path.string() + ": cannot be resumed with another recipe; these may not change:";
    for (const std::string& line : changes.refused) message += "\n  " + line;
    throw std::runtime_error(message + "\nStart a new run for them.");
  }
  append_line(path / kCommandName, quoted(command));
  if (!changes.allowed.empty()) {
    std::string text = utc_now("%Y-%m-%dT%H:%M:%SZ") + "\n";
    for (const std::string& line : changes.allowed) text += "  " + line + "\n";
    append_line(path / "changes.txt", text);
    folder.run_.values = resumed_values(std::move(folder.run_.values), recipe_values(document));
    io::write_file_atomically(folder.resolved(), document.resolved_toml(/*with_origins=*/true));
    io::write_file_atomically(path / kRunName, to_json(folder.run_));
  }
  io::write_file_atomically(folder.environment(), train::to_json(train::environment()));
  folder.changes_ = changes.allowed;
  return folder;
}

void RunFolder::describe(const RunDescription& description) {
  if (run_.description == description) return;
  run_.description = description;
  io::write_file_atomically(path_ / kRunName, to_json(run_));
}

RunFolder RunFolder::open(const fs::path& path) {
  RunFolder folder;
  folder.run_ = read_identity(path);
  folder.path_ = fs::is_symlink(path) ? path.parent_path() / fs::read_symlink(path) : path;  // `latest`
  return folder;
}

fs::path new_run_path(const fs::path& root, const std::string& name) {
  const std::string base = utc_now("%Y%m%d-") + name;
  fs::path path = root / base;
  for (int number = 2; fs::exists(fs::symlink_status(path)); ++number)
    path = root / (base + "-" + std::to_string(number));
  return path;
}

}  // namespace cachet::train
