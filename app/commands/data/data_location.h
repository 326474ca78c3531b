#pragma once

#include <string>

#include "cachet/tasks/recipe.h"

namespace cachet::app {

/// Returns ", data in /home/me/images" if the recipe has a relative path of its data folder. Such a folder may be in
/// the working folder or in CACHET_DATA, and another folder may have the same relative path. Returns an empty text if
/// the path is absolute, or if there is no such folder.
std::string where_data_lie(const tasks::RecipePlan& plan);

}  // namespace cachet::app
