#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// Returns, as TOML, the value that an option has for runs, model folders and exports that are older than the option.
/// If the earlier value is the option's default, as is usual, returns std::nullopt. A returned value stands for the
/// rule that Cachet had before the option, such as "1" for the key "schedule.first_update". If a new version of Cachet
/// changes a rule, it adds an option for this rule. The default of the option is the new rule, and new runs store the
/// option's value. If a run does not have the option's key, the run is older than the option and uses the earlier rule.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether a recipe key is newer than version 0.1.0 and has an earlier value (earlier_value(key) is not empty).
bool is_newer_than_0_1_0(std::string_view key);

/// Sets the defaults of a resumed run's recipe to the values of earlier_value(). `before` has the values with which the
/// run was made. If `before` has another value for a key, the key's default does not change. Values that differ from
/// the current default have the origin config::kEarlierSource.
void set_earlier_options(config::Document& recipe, const RecipeValues& before);

/// Sets the defaults in the recipe of a run, model folder or export to the values that earlier_value() returns. The
/// recipe must have every key that its version of Cachet wrote.
void set_earlier_options(config::Document& recipe);

/// A key that a recipe does not set. Its value is therefore the result of earlier_value(), and `sentence` explains this
/// value.
struct EarlierRule {
  std::string key, sentence;
};
std::vector<EarlierRule> earlier_rules(const config::Document& recipe);

}  // namespace cachet::train
