#include "cachet/config/named_recipes.h"

#include <cstdlib>
#include <map>
#include <system_error>

#include "cachet/config/installed_folder.h"
#include "cachet/config/near_names.h"

namespace cachet::config {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> recipe_folders() {
  std::vector<fs::path> folders;
  const char* named = std::getenv("CACHET_RECIPES");
  std::error_code unreadable;
  if (named != nullptr && *named != '\0' && fs::is_directory(named, unreadable)) folders.emplace_back(named);
  const std::vector<fs::path> installed = installed_folders("recipes");
  folders.insert(folders.end(), installed.begin(), installed.end());
  return folders;
}

}  // namespace

std::vector<NamedRecipe> named_recipes(const fs::path& other_than) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : recipe_folders()) {
    std::error_code error;
    for (auto entry = fs::recursive_directory_iterator(folder, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
      const fs::path& path = entry->path();
      if (path.extension() != kRecipeSuffix) continue;
      const fs::path file = fs::weakly_canonical(path);
      const std::string name = without_recipe_suffix(path.lexically_relative(folder).generic_string());
      if (other_than.empty() || file != other_than) found.emplace(name, file);
    }
  }
  std::vector<NamedRecipe> recipes;
  recipes.reserve(found.size());
  for (const auto& [name, path] : found) recipes.push_back({name, path});
  return recipes;
}

std::vector<NamedRecipe> recipes_called(const std::string& word, const std::vector<NamedRecipe>& recipes) {
  const std::string name = without_recipe_suffix(word);
  std::vector<NamedRecipe> ending;
  for (const NamedRecipe& recipe : recipes) {
    if (recipe.name == name) return {recipe};
    if (recipe.name.ends_with("/" + name)) ending.push_back(recipe);
  }
  return ending;
}

std::string without_recipe_suffix(const std::string& name) {
  return name.ends_with(kRecipeSuffix) ? name.substr(0, name.size() - kRecipeSuffix.size()) : name;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string recipe_suggestion(const std::string& word, const std::vector<NamedRecipe>& recipes) {
  const std::string name = without_recipe_suffix(word);
  std::vector<std::string> known, last;
  for (const NamedRecipe& recipe : recipes) {
    known.push_back(recipe.name);
    last.push_back(last_part(recipe.name));
  }
  const std::string near = suggestion(name, known);
  return near.empty() ? suggestion(last_part(name), last) : near;
}

}  // namespace cachet::config
