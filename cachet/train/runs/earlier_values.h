#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// Returns, as TOML, the value that an option has for runs, model folders and exports that are older than the option.
/// If the earlier value is the option's default, as is usual, returns std::nullopt. A returned value selects the rule
/// that Cachet had before the option existed. For example, earlier_value("schedule.first_update") is "1". If a new
/// version of Cachet changes a rule, it adds an option for this rule. The option's default selects the new rule, and
/// new runs store the option's value. A run that lacks the value is older than the option, and uses the earlier rule.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether a recipe key is newer than version 0.1.0 and has an earlier value (earlier_value(key) is not empty).
bool is_newer_than_0_1_0(std::string_view key);

/// Sets the defaults of the keys in a resumed run's recipe to the values of earlier_value(). `before` has all values of
/// the run. If `before` has a value that differs from the earlier value of a key, the key's default does not
/// change. Values that differ from the current default have the origin config::kEarlierSource.
void set_earlier_options(config::Document& recipe, const RecipeValues& before);

/// Sets the defaults in the recipe of a run, model folder or export to the values that earlier_value() returns. The
/// recipe must have every key that its version of Cachet wrote.
void set_earlier_options(config::Document& recipe);

/// A key that a recipe does not set, so that its value is the result of earlier_value(). `sentence` explains the value
/// to the user.
struct EarlierRule {
  std::string key, sentence;
};
std::vector<EarlierRule> earlier_rules(const config::Document& recipe);

}  // namespace cachet::train
