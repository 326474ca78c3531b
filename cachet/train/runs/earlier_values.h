#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// Returns the value of an option, as TOML, for runs, model folders and exports that are older than the option. They
/// usually correspond to the option's default; the result is then empty. Otherwise it is the value that they were made
/// with. A rule that a new version changes is such an option: its default is the new rule, which a new run records. A
/// run without the key uses the earlier rule.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether a recipe key did not exist in version 0.1.0. Keys without a default may be missing here.
bool is_newer_than_0_1_0(std::string_view key);

/// Makes the earlier values the defaults of a resumed run's recipe, for keys that the run lacks or has at the earlier
/// value. `before` are the values that the run was made with. Values that differ from the current default have the
/// origin config::kEarlierSource.
void set_earlier_options(config::Document& recipe, const RecipeValues& before);

/// Does the same for the recipe in a run, a model folder or an export, which has all keys known at its time.
void set_earlier_options(config::Document& recipe);

/// A recipe's key at an earlier value because the recipe does not set it, and a sentence about it.
struct EarlierRule {
  std::string key, sentence;
};
std::vector<EarlierRule> earlier_rules(const config::Document& recipe);

}  // namespace cachet::train
