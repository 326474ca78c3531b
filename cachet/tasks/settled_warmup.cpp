#include "cachet/tasks/settled_warmup.h"

#include <optional>
#include <string_view>

#include "cachet/config/fraction.h"
#include "cachet/config/problem.h"

namespace cachet::tasks {
namespace {

/// The percent of a warm-up that is written as a fraction; nothing for other keys and values.
std::optional<double> warmup_percent(const std::string& key, std::string_view toml) {
  constexpr std::string_view kTable = "norm", kKey = ".warmup";
  if (!key.ends_with(kKey)) return std::nullopt;
  const std::string table = key.substr(0, key.size() - kKey.size());
  if (table != kTable && !table.ends_with("." + std::string(kTable))) return std::nullopt;
  if (toml.size() < 2 || toml.front() != '"' || toml.back() != '"') return std::nullopt;
  return config::parse_percent(toml.substr(1, toml.size() - 2));
}

}  // namespace

std::vector<std::string> settle_warmups(config::Document& recipe, int64_t updates) {
  std::vector<std::string> lines;
  for (const config::Document::Value& value : recipe.resolved()) {
    const std::optional<double> percent = warmup_percent(value.key, value.toml);
    if (!percent) continue;
    const std::string count = std::to_string(config::settled_count(*percent, updates)),
                      rule = config::percent_text(*percent) + " of " + std::to_string(updates) + " updates";
    // What the user set stays what the user set.
    recipe.settle(value.key + "=" + count, value.origin.source == config::kSetSource ? config::kSetSource : rule);
    lines.push_back(value.key + ": " + rule + " is " + count);
  }
  return lines;
}

std::vector<std::string> settled_warmups(const config::Document& recipe, const train::RecipeValues& run) {
  std::vector<std::string> settings;
  for (const config::Document::Value& value : recipe.resolved()) {
    if (!warmup_percent(value.key, value.toml)) continue;
    const auto found = run.find(value.key);
    if (found != run.end() && !warmup_percent(found->first, found->second))
      settings.push_back(value.key + "=" + found->second);
  }
  return settings;
}

}  // namespace cachet::tasks
