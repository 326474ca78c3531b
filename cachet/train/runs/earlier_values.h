#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// Returns, as TOML, the value that an option has for runs, model folders and exports that are older than the option.
/// If the value for older runs equals the option's default, as is usual, returns std::nullopt. Otherwise, returns the
/// value that describes how older runs were made. A new version adds an option for each rule that it changes. The
/// default of a new option is the new rule, and new runs record it. If a run does not have the key, it uses the earlier
/// rule.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether a recipe key did not exist in version 0.1.0. For a newer key without a default, the result may be false.
bool is_newer_than_0_1_0(std::string_view key);

/// Sets the defaults of a resumed run's recipe to the earlier values. Only keys that the run does not have, or for
/// which it has the earlier value, get a new default. `before` has the values with which the run was made. Values that
/// differ from the current default have the origin config::kEarlierSource.
void set_earlier_options(config::Document& recipe, const RecipeValues& before);

/// Sets the defaults in the recipe of a run, model folder or export to the earlier values. The recipe must have all
/// keys of the version that wrote it.
void set_earlier_options(config::Document& recipe);

/// A recipe key that has its earlier value because the recipe does not set the key, and a sentence that explains this
/// value.
struct EarlierRule {
  std::string key, sentence;
};
std::vector<EarlierRule> earlier_rules(const config::Document& recipe);

}  // namespace cachet::train
