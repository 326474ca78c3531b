#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// Returns the value of an option, as TOML, for runs, model folders and exports that are older than the option. If this
/// value is the option's default, as is usual, returns std::nullopt. Otherwise, returns the value with which the run
/// was made. A new version adds an option for each rule that it changes. The option's default is the new rule, which a
/// new run records. A run without the key uses the earlier rule.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether a recipe key did not exist in version 0.1.0. May be false for newer keys that have no default.
bool is_newer_than_0_1_0(std::string_view key);

/// Sets the defaults of a resumed run's recipe to the earlier values, for keys that the run lacks or has at the earlier
/// value. `before` has the values with which the run was made. Values that differ from the current default have the
/// origin config::kEarlierSource.
void set_earlier_options(config::Document& recipe, const RecipeValues& before);

/// Sets earlier defaults in the recipe of a run, model folder or export. The recipe has all keys of its version.
void set_earlier_options(config::Document& recipe);

/// A recipe key that has an earlier value because the recipe does not set the key, and a sentence about this value.
struct EarlierRule {
  std::string key, sentence;
};
std::vector<EarlierRule> earlier_rules(const config::Document& recipe);

}  // namespace cachet::train
