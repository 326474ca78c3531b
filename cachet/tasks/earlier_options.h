#pragma once

#include <functional>
#include <set>
#include <string>

#include "cachet/config/document.h"

namespace cachet::tasks {

/// Gives options that a run, a model folder or an export does not know, and that nobody wrote, the values that it was
/// made with (train::earlier_value). `knows` says which keys it knows. Returns the keys of these options.
std::set<std::string> set_earlier_options(config::Document& recipe,
                                          const std::function<bool(const std::string& key)>& knows);

/// The same for the recipe that a run, a model folder or an export has itself, which holds all keys that it knows.
std::set<std::string> set_earlier_options(config::Document& recipe);

}  // namespace cachet::tasks
