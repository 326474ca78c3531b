#include "cachet/config/unknown_keys.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "cachet/config/near_names.h"
#include "cachet/config/toml_text.h"

namespace cachet::config {
namespace {

constexpr size_t kMaxReported = 100;
constexpr size_t kMaxListed = 12;  // keys of a table that a message lists when none is near

std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

class Search {
 public:
  explicit Search(const Document::State& state) : state_(state) {
    for (const Document::Value& value : state.values) remember(value.key);
    for (const std::string& key : state.mentioned) remember(key);
    for (const std::string& table : state.tables) {
      if (!table.empty()) remember(table);
    }
  }

  void walk(const Table& table, const std::string& path) {
    for (const auto& [key, node] : table) {
      const std::string child = join_path(path, toml_key(key));
      if (node.table() != nullptr && state_.tables.contains(child)) {
        walk(*node.table(), child);
      } else if (!state_.is_read(child) && !state_.tables.contains(child) && !node.left_behind) {
        report(path, key, child, node);
      }
    }
  }

  std::vector<Problem> problems() && {
    if (unreported_ > 0) {
      problems_.push_back({problems_.back().origin, "", "and " + std::to_string(unreported_) + " more unknown keys"});
    }
    return std::move(problems_);
  }

 private:
  void remember(const std::string& path) {
    const auto [table, name] = split_path(path);
    std::vector<std::string>& siblings = siblings_[table];
    if (std::ranges::find(siblings, name) == siblings.end()) siblings.push_back(name);
  }

  void report(const std::string& table, const std::string& key, const std::string& path, const Node& node) {
    if (problems_.size() == kMaxReported) {
      ++unreported_;
      return;
    }
    std::string message = node.table() != nullptr ? "unknown table" : "unknown key";
    const auto kind = state_.positions.find(join_path(table, "kind"));
    if (kind != state_.positions.end()) message += " for kind = " + state_.values[kind->second].toml;
    problems_.push_back({node.origin, path, message + hint(table, key)});
  }

  std::string hint(const std::string& table, const std::string& key) const {
    static const std::vector<std::string> kNone;
    const auto entry = siblings_.find(table);
    const std::vector<std::string>& siblings = entry == siblings_.end() ? kNone : entry->second;
    std::string near = suggestion(key, siblings);
    if (near.empty()) near = suggestion_elsewhere(table, key);
    if (!near.empty() || siblings.empty()) return near;
    if (siblings.size() > kMaxListed) return "; `" + list_command(table) + "` lists the known keys";
    near = "; known here: ";
    for (size_t i = 0; i < siblings.size(); ++i) near += (i > 0 ? ", " : "") + siblings[i];
    return near;
  }

  /// The command that lists the keys of a table: "cachet keys model --model vit_tiny_patch16_224".
  std::string list_command(const std::string& table) const {
    std::string command = "cachet keys";
    if (!table.empty()) command += " " + table;
    const auto model = state_.positions.find("model.name");
    const bool in_model = table == "model" || table.starts_with("model.");
    if (in_model && model != state_.positions.end()) {
      std::string name = state_.values[model->second].toml;
      std::erase(name, '"');
      command += " --model " + name;
    }
    return command;
  }

  /// " (did you mean 'optimizer.lr'?)" for `lr` at another position.
  std::string suggestion_elsewhere(const std::string& here, const std::string& key) const {
    std::vector<std::string> names;
    for (const auto& [table, siblings] : siblings_) {
      if (table != here) names.insert(names.end(), siblings.begin(), siblings.end());
    }
    const std::vector<std::string> near = near_names(key, names, 1);
    if (near.empty()) return "";
    std::vector<std::string> paths;
    for (const auto& [table, siblings] : siblings_) {
      const bool has_it = std::ranges::find(siblings, near[0]) != siblings.end();
      if (has_it && table != here && paths.size() < 3) paths.push_back(join_path(table, near[0]));
    }
    return did_you_mean(paths);
  }

  const Document::State& state_;
  std::map<std::string, std::vector<std::string>> siblings_;  // table -> names known in it, in the order of reading
  std::vector<Problem> problems_;
  size_t unreported_ = 0;
};

}  // namespace

std::vector<Problem> unknown_keys(const Document::State& state) {
  Search search(state);
  search.walk(*state.root.table(), "");
  return std::move(search).problems();
}

}  // namespace cachet::config
