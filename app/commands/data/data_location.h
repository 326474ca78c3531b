#pragma once

#include <string>

#include "cachet/tasks/recipe.h"

namespace cachet::app {

/// ", data in /home/me/images" where a recipe names its folder relatively: it may have been found in the working folder
/// or below CACHET_DATA, and another one of that name may lie there. Empty where the recipe names it whole, and where
/// it is not there.
std::string where_data_lie(const tasks::RecipePlan& plan);

}  // namespace cachet::app
