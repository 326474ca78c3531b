#include "cachet/tasks/earlier_options.h"

#include "cachet/config/view.h"
#include "cachet/tasks/task_kinds.h"
#include "cachet/train/earlier_values.h"

namespace cachet::tasks {

std::set<std::string> set_earlier_options(config::Document& recipe,
                                          const std::function<bool(const std::string& key)>& knows) {
  const std::string key = "data.orientation";  // of detection alone the default is another one
  const config::View task = recipe.root().table("task");
  const bool detects = task.has("kind") && task.text("kind", "") == detection().name;
  if (!detects || recipe.root().table("data").has("orientation") || knows(key)) return {};
  recipe.set(key + "=" + *train::earlier_value(key));
  return {key};
}

std::set<std::string> set_earlier_options(config::Document& recipe) {
  return set_earlier_options(recipe, [](const std::string&) { return false; });
}

}  // namespace cachet::tasks
