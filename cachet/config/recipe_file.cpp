#include "cachet/config/recipe_file.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cachet/config/merge.h"
#include "cachet/config/named_recipes.h"
#include "cachet/config/text_file.h"
#include "cachet/config/toml_parser.h"

namespace cachet::config {
namespace {

[[noreturn]] void refuse_recipe(const Origin& origin, const std::string& key, const std::string& message) {
  throw Error({Problem{origin, key, message}});
}

/// A path that a recipe names as a base, and the position where it does.
struct BaseName {
  std::string path;
  Origin origin;
};

std::vector<BaseName> take_bases(Node& recipe) {
  Table& table = *recipe.table();
  const auto entry = table.find("base");
  if (entry == table.end()) return {};
  std::vector<BaseName> names;
  const auto take = [&](const Node& node) {
    const auto* path = std::get_if<std::string>(&node.value);
    if (path == nullptr || path->empty() || path->find('\0') != std::string::npos) {
      refuse_recipe(node.origin, "base", "must be a path or a list of paths, not " + describe(node));
    }
    names.push_back({*path, node.origin});
  };
  if (const List* list = std::get_if<List>(&entry->second.value)) {
    std::ranges::for_each(*list, take);
  } else {
    take(entry->second);
  }
  table.erase(entry);
  return names;
}

/// merge_over(), but a recipe's own table [paper] replaces that of its bases: it trains another row.
void lay_over(Node& merged, Node recipe) {
  constexpr const char* kPaper = "paper";
  if (recipe.table()->contains(kPaper)) merged.table()->erase(kPaper);
  merge_over(merged, std::move(recipe));
}

class RecipeReader {
 public:
  Node read(const std::filesystem::path& path, const BaseName* named_by) {
    Node recipe = parse_toml(text_of(path, named_by), path.string());
    std::error_code unresolvable;
    const std::filesystem::path identity = std::filesystem::canonical(path, unresolvable);
    chain_.push_back({unresolvable ? path : identity, path});
    const std::vector<BaseName> bases = take_bases(recipe);
    Node merged;
    merged.value = Table{};
    for (const BaseName& base : bases) lay_over(merged, read_base(path, base));
    lay_over(merged, std::move(recipe));
    chain_.pop_back();
    return merged;
  }

 private:
  struct Link {
    std::filesystem::path identity, as_named;
  };

  Node read_base(const std::filesystem::path& recipe, const BaseName& base) {
    const std::filesystem::path path = file_of_base(recipe, base);
    std::error_code missing;
    const std::filesystem::path identity = std::filesystem::canonical(path, missing);
    if (!missing) refuse_circle(identity, path, base);
    if (++count_ >= kMaxRecipes) {
      refuse_recipe(base.origin, "base",
                    "must not make a chain of more than " + std::to_string(kMaxRecipes) + " recipes");
    }
    return read(path, &base);
  }

  /// The file that a recipe names as a base: the path, relative to the recipe, with or without .toml, else a recipe
  /// that comes with Cachet. A recipe that has the name of its base is not its own base. If there is neither, the path,
  /// which cannot be read.
  std::filesystem::path file_of_base(const std::filesystem::path& recipe, const BaseName& base) const {
    const std::filesystem::path path = (recipe.parent_path() / base.path).lexically_normal();
    const std::filesystem::path& own = chain_.back().identity;
    std::vector<std::filesystem::path> files{path};
    if (!base.path.ends_with(kRecipeSuffix)) files.emplace_back(path.string() + std::string(kRecipeSuffix));
    bool names_itself = false;
    for (const std::filesystem::path& file : files) {
      std::error_code missing;
      if (!std::filesystem::exists(file, missing) || std::filesystem::is_directory(file, missing)) continue;
      if (file.filename() != recipe.filename() || std::filesystem::weakly_canonical(file, missing) != own) return file;
      names_itself = true;
    }
    const std::vector<NamedRecipe> called = recipes_called(base.path, named_recipes(/*other_than=*/own));
    if (called.size() == 1) return called.front().path;
    if (called.size() > 1) {
      std::string names;
      for (const NamedRecipe& each : called) names += (names.empty() ? "'" : ", '") + each.name + "'";
      refuse_recipe(base.origin, "base",
                    "give the full name, because several recipes are called '" + base.path + "': " + names);
    }
    return names_itself ? recipe : path;
  }

  void refuse_circle(const std::filesystem::path& identity, const std::filesystem::path& path, const BaseName& base) {
    const auto first = std::ranges::find(chain_, identity, &Link::identity);
    if (first == chain_.end()) return;
    std::string circle;
    for (auto link = first; link != chain_.end(); ++link) circle += link->as_named.string() + " -> ";
    refuse_recipe(base.origin, "base", "the bases of recipes must not form a circle: " + circle + path.string());
  }

  /// A problem with a base is reported at the line that names it.
  static std::string text_of(const std::filesystem::path& path, const BaseName* named_by) {
    try {
      return read_text_file(path, kMaxRecipeBytes);
    } catch (const UnreadableFile& error) {
      if (named_by == nullptr) refuse_recipe({path.string(), 0}, "", error.what());
      std::string why = path.string() + ": " + error.what();
      std::error_code unreadable;
      if (!std::filesystem::exists(path, unreadable) && !why.ends_with("?)"))
        why += recipe_suggestion(named_by->path, named_recipes());
      refuse_recipe(named_by->origin, "base", why);
    }
  }

  std::vector<Link> chain_;  // from the recipe to the base being read
  int64_t count_ = 0;
};

}  // namespace

Node read_recipe(const std::filesystem::path& path) { return RecipeReader().read(path, nullptr); }

}  // namespace cachet::config
