#include "cachet/train/resume_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cachet/config/utf8.h"
#include "cachet/io/sha256.h"
#include "cachet/train/earlier_values.h"
#include "cachet/train/paper_rows.h"

namespace cachet::train {
namespace {

constexpr std::string_view kAbsent = "(absent)";

constexpr std::array<std::string_view, 12> kFreeKeys{
    "train.epochs",         "train.log_every",        "train.tensorboard",
    "train.evaluate_every", "train.checkpoint_every", "train.save_minutes",
    "train.keep",           "train.max_hours",        "train.limit",
    "train.patience",       "train.device",           "train.normality_passes"};
constexpr std::array<std::string_view, 4> kFreeTables{"schedule.", "run.", "report.", "progress."};
constexpr std::array<std::string_view, 2> kFreeLoaderKeys{".workers", ".prefetch"};

/// A value of which, if it is long, only what lies around byte `at` is shown.
std::string shown(std::string_view value, size_t at) {
  constexpr size_t kMost = 120;
  if (value.size() <= kMost) return std::string(value);
  const size_t first = std::min(at < kMost / 3 ? 0 : at - kMost / 3, value.size() - kMost);
  return (first > 0 ? "…" : "") + config::printable(value.substr(first, kMost)) +
         (first + kMost < value.size() ? "…" : "");
}

std::string change_line(const std::string& key, std::string_view before, std::string_view now) {
  const auto differs = static_cast<size_t>(std::ranges::mismatch(before, now).in1 - before.begin());
  return key + ": " + shown(before, differs) + " -> " + shown(now, differs);
}

}  // namespace

RecipeValues recipe_values(const config::Document& document) {
  RecipeValues values;
  for (const config::Document::Value& value : document.resolved()) values[value.key] = value.toml;
  return values;
}

bool is_place_of_data(const std::string& key) { return key == "data.root"; }

bool may_change_on_resume(const std::string& key) {
  if (is_place_of_data(key) || is_of_paper(key)) return true;
  if (std::ranges::find(kFreeKeys, key) != kFreeKeys.end()) return true;
  if (std::ranges::any_of(kFreeTables, [&](std::string_view table) { return key.starts_with(table); })) return true;
  return key.starts_with("data.") &&
         std::ranges::any_of(kFreeLoaderKeys, [&](std::string_view last) { return key.ends_with(last); });
}

RecipeChanges recipe_changes(const RecipeValues& before, const config::Document& now) {
  RecipeChanges changes;
  const auto note = [&](const std::string& key, std::string_view old_value, std::string_view new_value) {
    if (is_of_paper(key)) return;
    const bool allowed = may_change_on_resume(key);
    (allowed ? changes.allowed : changes.refused).push_back(change_line(key, old_value, new_value));
    if (allowed) changes.allowed_keys.push_back(key);
  };
  const RecipeValues values = recipe_values(now);
  for (const config::Document::Value& value : now.resolved()) {
    const auto found = before.find(value.key);
    if (found != before.end()) {
      if (found->second != value.toml) note(value.key, found->second, value.toml);
    } else {
      // An option that is newer than the run has the value that the run was made with, as a rule its default.
      const std::optional<std::string> earlier = earlier_value(value.key);
      const bool is_as_before = earlier ? *earlier == value.toml : value.origin.source == "default";
      if (!is_as_before) note(value.key, kAbsent, value.toml);
    }
  }
  for (const auto& [key, value] : before) {
    if (!values.contains(key)) note(key, value, kAbsent);
  }
  return changes;
}

RecipeValues resumed_values(RecipeValues before, const RecipeValues& now) {
  std::erase_if(before, [](const auto& value) { return may_change_on_resume(value.first); });
  for (const auto& [key, value] : now) {
    if (may_change_on_resume(key)) before[key] = value;
  }
  return before;
}

std::string config_hash(const RecipeValues& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    if (!may_change_on_resume(key) || is_place_of_data(key)) text += key + " = " + value + "\n";
  }
  return io::sha256_hex(text);
}

}  // namespace cachet::train
