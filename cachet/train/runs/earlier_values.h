#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// Some options are newer than runs, model folders and exports that are still read. As a rule these were made with the
/// default of such an option. If not, this gives the value that they were made with, as TOML; nothing for other keys.
/// A rule that a new version changes is such an option: its new default is the new rule, which a new run records, and a
/// run that does not know the key keeps the earlier rule.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether version 0.1.0 did not have the key of a recipe. Keys that have no default need not be known here.
bool is_newer_than_0_1_0(std::string_view key);

/// Makes the earlier values the defaults of a recipe that a run is resumed with, for the keys that the run does not
/// have, or has at the earlier value. `before` is what the run was made with. Values that differ from the default of
/// today have config::kEarlierSource as their origin.
void set_earlier_options(config::Document& recipe, const RecipeValues& before);

/// The same for the recipe that a run, a model folder or an export has itself, which holds all keys that it knows.
void set_earlier_options(config::Document& recipe);

/// A recipe's keys that stand at an earlier value because they are not written, and a sentence for each.
struct EarlierRule {
  std::string key, sentence;
};
std::vector<EarlierRule> earlier_rules(const config::Document& recipe);

}  // namespace cachet::train
