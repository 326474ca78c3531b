#include "cachet/train/runs/resume_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "cachet/config/utf8.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/paper_rows.h"

namespace cachet::train {
namespace {

constexpr const char* kAbsent = "(absent)";

constexpr std::array<std::string_view, 14> kFreeKeys{
    "train.epochs",         "train.log_every",        "train.tensorboard",
    "train.evaluate_every", "train.checkpoint_every", "train.save_minutes",
    "train.keep",           "train.max_hours",        "train.limit",
    "train.patience",       "train.device",           "train.normality_passes",
    "train.graph",          "train.profile"};
constexpr std::array<std::string_view, 4> kFreeTables{"schedule.", "run.", "report.", "progress."};
constexpr std::array<std::string_view, 2> kFreeLoaderKeys{".workers", ".prefetch"};

// A run with the value "stop" that meets a bad image ends at once.
constexpr const char *kOnBadImage = "data.on_bad_image", *kStopsAtBadImage = "\"stop\"", *kSkipsBadImages = "\"skip\"";

/// A value of which, if it is long, only what lies around byte `at` is shown.
std::string shown(std::string_view value, size_t at) {
  constexpr size_t kMax = 120;
  if (value.size() <= kMax) return std::string(value);
  const size_t first = std::min(at < kMax / 3 ? 0 : at - kMax / 3, value.size() - kMax);
  return (first > 0 ? "…" : "") + config::printable(value.substr(first, kMax)) +
         (first + kMax < value.size() ? "…" : "");
}

std::string change_line(const std::string& key, std::string_view before, std::string_view now) {
  const auto differs = static_cast<size_t>(std::ranges::mismatch(before, now).in1 - before.begin());
  return key + ": " + shown(before, differs) + " -> " + shown(now, differs);
}

constexpr std::string_view kAccumulate = "train.accumulate";

/// The keys whose values set the size of a micro-batch.
std::vector<std::string> size_keys(const RecipeValues& values) {
  if (values.contains("data.max_tokens")) return {"data.max_tokens", "data.max_samples"};
  return {"train.batch_size"};
}

std::optional<int64_t> whole_number(const RecipeValues& values, std::string_view key) {
  const auto found = values.find(std::string(key));
  if (found == values.end()) return std::nullopt;
  const std::string& text = found->second;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
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

bool may_change_on_resume(const std::string& key, const std::string& before, const std::string& now) {
  return may_change_on_resume(key) || (key == kOnBadImage && before == kStopsAtBadImage && now == kSkipsBadImages);
}

RecipeValues values_of_step(RecipeValues values) {
  const std::optional<int64_t> accumulate = whole_number(values, kAccumulate);
  if (!has_parts(values) || !accumulate) return values;
  for (const std::string& key : size_keys(values)) {
    int64_t of_step = 0;
    const std::optional<int64_t> size = whole_number(values, key);
    if (size && !__builtin_mul_overflow(*size, *accumulate, &of_step)) values[key] = std::to_string(of_step);
  }
  values.erase(std::string(kAccumulate));
  return values;
}

RecipeValues values_of_experiment(const RecipeValues& values, int64_t processes) {
  RecipeValues experiment = values_of_step(values);
  const std::optional<int64_t> accumulate = whole_number(values, kAccumulate);
  int64_t parts = 0;
  if (has_parts(values) && accumulate && !__builtin_mul_overflow(processes, *accumulate, &parts))
    experiment[kPartsOfStep] = std::to_string(parts);
  return experiment;
}

bool has_parts(const RecipeValues& values) {
  const auto state = values.find("train.state");
  return state != values.end() && state->second != "\"shared\"";
}

bool is_of_spread(const std::string& key, const RecipeValues& values) {
  if (!has_parts(values)) return false;
  const std::vector<std::string> sizes = size_keys(values);
  return key == kAccumulate || std::ranges::find(sizes, key) != sizes.end();
}

RecipeChanges recipe_changes(const RecipeValues& before, const config::Document& now) {
  RecipeChanges changes;
  const RecipeValues values = recipe_values(now), step_before = values_of_step(before), step = values_of_step(values);
  const bool keeps_step =
      has_parts(values) && std::ranges::all_of(size_keys(before), [&](const std::string& key) {
        const auto was = step_before.find(key), is = step.find(key);
        return was == step_before.end() ? is == step.end() : is != step.end() && was->second == is->second;
      });
  const auto note = [&](const std::string& key, const std::string& old_value, const std::string& new_value) {
    if (is_of_paper(key)) return;
    const bool allowed = may_change_on_resume(key, old_value, new_value) || (is_of_spread(key, before) && keeps_step);
    (allowed ? changes.allowed : changes.refused).push_back(change_line(key, old_value, new_value));
    if (allowed) changes.allowed_keys.push_back(key);
  };
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
  const auto is_as_now = [spread = before](const std::string& key) {
    return may_change_on_resume(key) || is_of_spread(key, spread);
  };
  std::erase_if(before, [&](const auto& value) { return is_as_now(value.first); });
  for (const auto& [key, value] : now) {
    const auto earlier = before.find(key);
    if (is_as_now(key) || (earlier != before.end() && may_change_on_resume(key, earlier->second, value)))
      before[key] = value;
  }
  return before;
}

std::string config_hash(const RecipeValues& values) {
  std::string text;
  for (const auto& [key, value] : values_of_step(values)) {
    if (!may_change_on_resume(key) || is_place_of_data(key)) text += key + " = " + value + "\n";
  }
  return io::sha256_hex(text);
}

bool fits_checkpoint(const RecipeValues& values, const std::string& hash) {
  if (config_hash(values) == hash) return true;
  RecipeValues before = values;
  const auto value = before.find(kOnBadImage);
  if (value == before.end() || value->second != kSkipsBadImages) return false;
  value->second = kStopsAtBadImage;
  return config_hash(before) == hash;
}

}  // namespace cachet::train
