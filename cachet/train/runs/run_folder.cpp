#include "cachet/train/runs/run_folder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "cachet/config/recipe_file.h"
#include "cachet/config/resolved_toml.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/folder_path.h"
#include "cachet/io/files/growing_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/report/shell_word.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using RunJson = nlohmann::ordered_json;

constexpr const char* kRunName = "run.json";
constexpr const char* kCommandName = "command.txt";
constexpr uint64_t kMaxCommandBytes = 1 << 20;
constexpr uint64_t kMaxEnvironmentBytes = 1 << 20;
constexpr uint64_t kMaxRunBytes = 16 << 20;

std::string utc_now(const char* format) { return utc_text(unix_time(), format); }

std::string random_id() {
  std::random_device device;
  char text[17];
  std::snprintf(text, sizeof text, "%08x%08x", device(), device());
  return text;
}

RunJson digest_to_json(const data::DataDigest& digest) {
  RunJson json{{"version", data::DataDigest::kVersion}, {"contents", digest.contents}};
  for (const auto& [name, text] :
       {std::pair("texts", &digest.texts), {"files", &digest.files}, {"times", &digest.times}})
    if (!text->empty()) json[name] = *text;
  return json;
}

data::DataDigest digest_from_json(const io::JsonFields& json, const fs::path& file) {
  if (const int64_t version = json.count("version"); version != data::DataDigest::kVersion)
    throw std::runtime_error(file.string() + ": the digest of its data has version " + std::to_string(version) +
                             ", but this version of Cachet reads version " +
                             std::to_string(data::DataDigest::kVersion) +
                             "; use the version of Cachet that wrote the run");
  return {json.text("contents"), json.text("texts", ""), json.text("files", ""), json.text("times", "")};
}

/// How data differ, for a sentence; nothing of a difference that does not matter.
std::optional<std::string> refusal_of(data::DataChange change) {
  if (change == data::DataChange::contents) return "labels, texts, annotations or pixels differ";
  if (change == data::DataChange::files) return "the names, the sizes or the number of the image files differ";
  return std::nullopt;
}

/// The keys whose values come from there.
std::set<std::string> keys_from(const char* source, const config::Document& document) {
  std::set<std::string> keys;
  for (const config::Document::Value& value : document.resolved())
    if (value.origin.source == source) keys.insert(value.key);
  return keys;
}

/// A list of texts; empty where older versions did not write it.
std::set<std::string> names_in(const io::JsonFields& json, const char* key) {
  if (!json.has(key)) return {};
  const std::vector<std::string> names = json.texts(key);
  return {names.begin(), names.end()};
}

void append_line(const fs::path& path, const std::string& text) { io::GrowingFile(path).append(text); }

/// Of a file that is only shown.
std::optional<std::string> text_of(const fs::path& file, uint64_t max_bytes) {
  try {
    return io::read_text_file(file, max_bytes);
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

io::FolderLock lock_of_run(const fs::path& path) {
  if (auto lock = io::FolderLock::take_if_free(path)) return *std::move(lock);
  throw RunInUse(path.string() + ": another process is training this run; wait for it or stop it first");
}

/// `latest` always names a run: the link is made under another name and replaces it in one step.
void point_latest(const fs::path& run) {
  const fs::path link = run.parent_path() / "latest";
  if (fs::exists(fs::symlink_status(link)) && !fs::is_symlink(link)) return;  // somebody's own file
  const fs::path fresh = run.parent_path() / (".latest-" + random_id());
  std::error_code error;
  fs::create_directory_symlink(run.filename(), fresh, error);
  if (!error) fs::rename(fresh, link, error);
  if (error) fs::remove(fresh, error);  // a file system without links: `latest` is a convenience
}

/// What environment.json has of RunFolder::trained_by(); 0 if it has none or cannot be read.
int64_t saved_processes(const fs::path& environment) {
  try {
    const io::JsonFields json(io::read_text_file(environment, kMaxEnvironmentBytes), environment.string());
    return json.has("processes") ? json.count("processes") : 0;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

}  // namespace

std::string RunFolder::to_json(const Identity& run) {
  RunJson values = RunJson::object();
  for (const auto& [key, value] : run.values) values[key] = value;
  RunJson json{
      {"schema", 1}, {"id", run.id}, {"recipe", run.recipe}, {"created", run.created}, {"values", std::move(values)}};
  json["defaults"] = run.defaults;
  if (!run.set.empty()) json["set"] = run.set;
  if (!run.recipe_digest.empty()) json["recipe_sha256"] = run.recipe_digest;
  if (!run.first_places.empty()) json["first_places"] = run.first_places;
  for (const auto& [split, digest] : run.data)
    json["data"][split] = std::holds_alternative<std::string>(digest)
                              ? RunJson(std::get<std::string>(digest))
                              : digest_to_json(std::get<data::DataDigest>(digest));
  if (!run.earlier.empty()) json["earlier"] = run.earlier;
  if (!run.kept.empty()) json["kept"] = run.kept;
  if (run.description) json["description"] = RunJson::parse(train::to_json(*run.description));
  return json.dump(2, ' ', false, RunJson::error_handler_t::replace) + "\n";
}

RunFolder::Identity RunFolder::read_identity(const fs::path& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path.string() + ": there is no such run folder");
  const fs::path file = path / kRunName;
  if (!fs::exists(file)) {
    throw std::runtime_error(path.string() + ": is not a run folder (it has no " + std::string(kRunName) + ")");
  }
  const io::JsonFields json(io::read_text_file(file, kMaxRunBytes), file.string());
  json.schema(1);
  Identity run;
  run.id = json.text("id");
  run.recipe = json.text("recipe", "");
  run.created = json.text("created");
  run.values = json.text_map("values");
  run.defaults = names_in(json, "defaults");
  run.set = names_in(json, "set");
  run.recipe_digest = json.text("recipe_sha256", "");
  if (json.has("first_places")) run.first_places = json.text_map("first_places");
  if (json.has("data")) {
    const io::JsonFields digests = json.object("data");
    for (const std::string& split : digests.keys())
      run.data.emplace(split, digests.is_text(split) ? SavedDigest(digests.text(split))
                                                     : SavedDigest(digest_from_json(digests.object(split), file)));
  }
  run.earlier = names_in(json, "earlier");
  run.kept = names_in(json, "kept");
  if (json.has("description")) run.description = run_description_from_json(json.json("description"));
  return run;
}

RunFolder RunFolder::create(const fs::path& given, const WrittenRecipe& recipe, const config::Document& document,
                            const std::vector<std::string>& command, const std::map<std::string, std::string>& more,
                            LatestLink latest) {
  const fs::path path = io::without_last_separator(given);
  if (fs::exists(fs::symlink_status(path))) {
    throw std::runtime_error(path.string() + (is_run_folder(path)
                                                  ? ": exists already; resume it with --resume, or choose another name"
                                                  : ": exists already and is not a run; choose another name"));
  }
  RunFolder folder;
  folder.run_ = {random_id(),
                 recipe.name,
                 utc_now("%Y-%m-%dT%H:%M:%SZ"),
                 recipe_values(document),
                 keys_from(config::kDefaultSource, document),
                 keys_from(config::kSetSource, document),
                 io::sha256_hex(recipe.text),
                 {},
                 {},
                 {},
                 {},
                 {}};
  for (const auto& [name, text] : more) folder.run_.kept.insert(name);
  // Filled under another name, so that a folder by this name is a run that can be resumed.
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path fresh = parent / io::name_with_suffix("." + path.filename().string(), "-" + folder.id());
  try {
    fs::create_directories(parent);
    fs::create_directory(fresh);
    folder.lock_ = lock_of_run(fresh);
    folder.path_ = fresh;
    fs::create_directory(folder.checkpoints());
    io::write_file_atomically(folder.recipe(), recipe.text);
    io::write_file_atomically(folder.resolved(), document.resolved_toml(/*with_origins=*/true));
    io::write_file_atomically(fresh / kCommandName, report::shell_line(command) + "\n");
    io::write_file_atomically(folder.environment(), train::to_json(train::environment()));
    io::write_file_atomically(fresh / kRunName, to_json(folder.run_));
    for (const auto& [name, text] : more) io::write_file_atomically(fresh / name, text);
    io::rename_durably(fresh, path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    if (const auto* of_files = dynamic_cast<const fs::filesystem_error*>(&error))
      throw std::runtime_error(path.string() + ": the folder cannot be made: " + of_files->code().message());
    throw;
  }
  if (latest == LatestLink::pointed) point_latest(path);
  folder.path_ = path;
  return folder;
}

RunFolder RunFolder::resume(const fs::path& given, const config::Document& document,
                            const std::vector<std::string>& command, WhenInUse when_in_use) {
  RunFolder folder = open(given);
  const fs::path path = folder.path_;
  folder.lock_ = when_in_use == WhenInUse::wait ? io::FolderLock::wait_for(path) : lock_of_run(path);
  folder.run_ = read_identity(path);
  const RecipeChanges changes = recipe_changes(folder.run_.values, document);
  if (!changes.refused.empty()) {
    std::string message = path.string() + ": cannot be resumed with another recipe. These keys must not change:";
    for (const std::string& line : changes.refused) message += "\n  " + line;
    const bool of_rate = std::ranges::any_of(changes.refused, [](const std::string& line) {
      return line.starts_with("optimizer.") || line.starts_with("schedule.");
    });
    throw std::runtime_error(message + "\nStart a new run to change these keys" +
                             (of_rate ? ". To start the new run with the weights of this run, use --set train.init=" +
                                            report::shell_word(path.string()) + "."
                                      : "."));
  }
  append_line(path / kCommandName, report::shell_line(command) + "\n");
  if (!changes.allowed.empty()) {
    std::string lines = utc_now("%Y-%m-%dT%H:%M:%SZ") + "\n";
    for (const std::string& line : changes.allowed) lines += "  " + line + "\n";
    folder.run_.set.merge(keys_from(config::kSetSource, document));
    RecipeValues now = recipe_values(document);
    for (const auto& [key, value] : folder.run_.values)
      if (is_place_of_data(key) && now[key] != value) folder.run_.first_places.insert({key, value});
    folder.run_.values = resumed_values(std::move(folder.run_.values), now);
    // An option that is newer than the run stays out: the run has no value of it, also when it is resumed again.
    std::vector<config::Document::Value> values = document.resolved();
    std::erase_if(values, [&](const auto& value) { return !folder.run_.values.contains(value.key); });
    folder.unkept_ = Changes{std::move(lines), config::resolved_toml(values, /*with_origins=*/true)};
    // Other data in another position would leave a run that does not find its own again.
    if (std::ranges::none_of(changes.allowed_keys, is_place_of_data)) folder.keep_changes();
  }
  Environment machine = train::environment();
  machine.processes = folder.processes_;
  io::write_file_atomically(folder.environment(), train::to_json(machine));
  folder.changes_ = changes.allowed;
  for (const EarlierRule& rule : earlier_rules(document))
    if (folder.run_.earlier.insert(rule.key).second) folder.untold_.push_back(rule.sentence);
  return folder;
}

void RunFolder::keep_changes() {
  if (!unkept_) return;
  append_line(path_ / "changes.txt", unkept_->lines);
  io::write_file_atomically(resolved(), unkept_->resolved);
  io::write_file_atomically(path_ / kRunName, to_json(run_));
  unkept_.reset();
}

void RunFolder::describe(const RunDescription& description) {
  if (run_.description && train::to_json(*run_.description) == train::to_json(description)) return;
  run_.description = description;
  io::write_file_atomically(path_ / kRunName, to_json(run_));
}

void RunFolder::trained_by(int64_t processes) {
  processes_ = processes;
  Environment machine = train::environment();
  machine.processes = processes;
  io::write_file_atomically(environment(), train::to_json(machine));
}

RecipeValues RunFolder::values_to_hash() const {
  RecipeValues values = run_.values;
  for (const auto& [key, value] : run_.first_places) values[key] = value;
  return values;
}

std::string RunFolder::config_hash() const { return train::config_hash(values_to_hash()); }

bool RunFolder::fits_checkpoint(const std::string& hash) const {
  return train::fits_checkpoint(values_to_hash(), hash);
}

std::vector<std::string> RunFolder::compare_data(const std::map<std::string, data::DataDigest>& digests,
                                                 const Fingerprints& fingerprints) const {
  const auto refuse = [&](const std::string& split, const std::string& how) {
    throw std::runtime_error(path_.string() + ": the " + split + " data are not the data with which the run began (" +
                             how + "); restore the data, or start a new run");
  };
  const bool is_old =
      std::ranges::any_of(run_.data, [](const auto& kept) { return std::holds_alternative<std::string>(kept.second); });
  std::map<std::string, std::string> first_form;
  if (is_old) first_form = fingerprints();
  std::vector<std::string> lines;
  for (const auto& [split, digest] : digests) {
    const auto kept = run_.data.find(split);
    if (kept == run_.data.end()) continue;
    if (const auto* old = std::get_if<std::string>(&kept->second)) {
      if (*old != first_form[split]) refuse(split, "the samples, the labels or their order differ");
      continue;
    }
    const data::DataChange change = change_of(std::get<data::DataDigest>(kept->second), digest);
    if (const auto how = refusal_of(change)) refuse(split, *how);
    if (change == data::DataChange::times)
      lines.push_back("the image files of the " + split +
                      " data have other modification times than at the start of the run. Their names and sizes are the "
                      "same; their bytes were not compared");
  }
  if (is_old)
    lines.push_back(
        "the run began with version 0.1.0, which compared only a part of the data. This part is the same, and the run "
        "now has a digest of all data");
  return lines;
}

std::vector<std::string> RunFolder::require_same_data(const std::map<std::string, data::DataDigest>& digests,
                                                      const Fingerprints& fingerprints) {
  std::vector<std::string> lines = compare_data(digests, fingerprints);
  keep_changes();
  auto data = run_.data;
  for (const auto& [split, digest] : digests)
    if (const auto kept = data.find(split); kept == data.end() || std::holds_alternative<std::string>(kept->second))
      data[split] = digest;
  if (data != run_.data || !untold_.empty()) {
    lines.insert(lines.end(), untold_.begin(), untold_.end());
    untold_.clear();
    run_.data = std::move(data);
    io::write_file_atomically(path_ / kRunName, to_json(run_));
  }
  return lines;
}

std::optional<std::string> RunFolder::recipe_text() const { return text_of(recipe(), config::kMaxRecipeBytes); }

bool RunFolder::recipe_was_edited() const {
  const std::optional<std::string> text = recipe_text();
  return text && !run_.recipe_digest.empty() && io::sha256_hex(*text) != run_.recipe_digest;
}

std::string RunFolder::command_text() const { return text_of(commands(), kMaxCommandBytes).value_or(""); }

RunFolder RunFolder::open(const fs::path& given) {
  const fs::path path = io::without_last_separator(given);
  RunFolder folder;
  folder.run_ = read_identity(path);
  folder.path_ = fs::is_symlink(path) ? path.parent_path() / fs::read_symlink(path) : path;  // `latest`
  folder.processes_ = saved_processes(folder.environment());
  return folder;
}

bool is_being_trained(const fs::path& run) { return io::FolderLock::is_taken(run); }

bool is_run_folder(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path / kRunName, unreadable);
}

std::optional<fs::path> run_of_file(const fs::path& path) {
  constexpr std::array<std::string_view, 15> kOwn{
      kRunName,           kCommandName,    "recipe.toml",          "resolved.toml",
      "environment.json", "status.json",   "evaluation.json",      "changes.txt",
      "log.txt",          "metrics.jsonl", "summary.csv",          "report.html",
      "evaluation.jsonl", "profile.json",  "image_statistics.json"};  // which run.json of an earlier version does not
                                                                      // name
  std::error_code unreadable;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path).parent_path(), unreadable) / path.filename();
  for (fs::path folder = whole.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (!is_run_folder(folder)) continue;
    const std::string name = whole.lexically_relative(folder).begin()->string();
    const bool is_own = std::ranges::find(kOwn, name) != kOwn.end() || name == "checkpoints" ||
                        name.starts_with("events.out.tfevents.");
    try {
      if (is_own || RunFolder::read_identity(folder).kept.contains(name)) return folder;
    } catch (const std::runtime_error&) {  // a damaged run.json names nothing
    }
    return std::nullopt;
  }
  return std::nullopt;
}

int64_t processes_of_recipe(const fs::path& path) {
  const fs::path folder = path.parent_path();
  if (path.filename() != "resolved.toml" || !is_run_folder(folder)) return 1;
  return std::max<int64_t>(1, saved_processes(folder / "environment.json"));
}

fs::path new_run_path(const fs::path& root, const std::string& name) {
  const std::string base = utc_now("%Y%m%d-") + name;
  fs::path path = root / base;
  for (int number = 2; fs::exists(fs::symlink_status(path)); ++number)
    path = root / (base + "-" + std::to_string(number));
  return path;
}

}  // namespace cachet::train
