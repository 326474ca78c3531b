#include "app/commands/data/data_location.h"

#include <filesystem>

#include "cachet/data/data_path.h"

namespace cachet::app {

std::string where_data_lie(const tasks::RecipePlan& plan) {
  std::string text;
  for (const tasks::DataPlace& place : plan.task->data()) {
    if (place.root.empty() || place.root.is_absolute()) continue;
    const auto here = std::filesystem::current_path();
    if (const auto found = data::existing_data_path(place.root, data::PathKind::folder, here))
      text += ", data in " + found->string();
  }
  return text;
}

}  // namespace cachet::app
