#include "cachet/tasks/sweep.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "cachet/config/node.h"
#include "cachet/config/problem.h"
#include "cachet/config/recipe_file.h"
#include "cachet/config/set_option.h"

namespace cachet::tasks {
namespace {

using config::Node;

[[noreturn]] void refuse_sweep(const config::Origin& origin, const std::string& key, const std::string& message) {
  throw config::Error({config::Problem{origin, key.empty() ? "sweep" : config::join_path("sweep", key), message}});
}

/// One value of an axis, or one variant.
struct Choice {
  std::string name;
  std::vector<std::string> settings;
  std::vector<config::Origin> origins;
};

struct Axis {
  std::string key;
  const Node* values;
};

/// Letters, digits, points and signs; others become one underscore between such.
std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

void find_axes(const Node& table, const std::string& path, std::vector<Axis>& axes) {
  for (const auto& [key, node] : *table.table()) {
    const std::string whole = config::join_path(path, key);
    if (whole == "seeds" || whole == "variants") continue;
    if (node.table() != nullptr) {
      find_axes(node, whole, axes);
      continue;
    }
    const auto* list = std::get_if<config::List>(&node.value);
    if (list == nullptr)
      refuse_sweep(node.origin, whole, "must be a list of values to try, such as [0.25, 0.5], not " + describe(node));
    if (list->empty())
      refuse_sweep(node.origin, whole, "the list is empty; list the values to try, such as [0.25, 0.5]");
    axes.push_back({whole, &node});
  }
}

std::vector<Choice> choices_of(const Axis& axis, const std::vector<Axis>& axes) {
  const std::string part = last_part(axis.key);
  const bool alone = std::ranges::count_if(axes, [&](const Axis& other) { return last_part(other.key) == part; }) == 1;
  std::vector<Choice> choices;
  for (const Node& value : std::get<config::List>(axis.values->value)) {
    const std::string text = config::assigned_text(value);
    choices.push_back(
        {file_name_of((alone ? part : axis.key) + "_" + text), {axis.key + "=" + text}, {axis.values->origin}});
  }
  return choices;
}

std::string key_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

config::Origin origin_of(const Node& table, const std::string& key) {
  const Node* node = config::find(table, key);
  return node == nullptr ? table.origin : node->origin;
}

std::vector<Choice> variants_of(const Node& sweep) {
  const Node* variants = config::find(sweep, "variants");
  if (variants == nullptr) return {};
  if (variants->table() == nullptr || variants->table()->empty())
    refuse_sweep(variants->origin, "variants", "must have a table for each variant, such as [sweep.variants.plain]");
  std::vector<Choice> choices;
  for (const auto& [name, settings] : *variants->table()) {
    const std::string key = config::join_path("variants", name);
    if (settings.table() == nullptr)
      refuse_sweep(settings.origin, key, "must be a table of keys of the recipe, not " + describe(settings));
    if (name.empty() || file_name_of(name) != name.substr(0, name.find_last_not_of('_') + 1))
      refuse_sweep(settings.origin, key,
                   "names a folder, so it must consist of letters, digits, '.', '-', '+' and single '_'");
    Choice choice{name, config::assignments_of(settings), {}};
    for (const std::string& setting : choice.settings) choice.origins.push_back(origin_of(settings, key_of(setting)));
    choices.push_back(std::move(choice));
  }
  return choices;
}

void read_seeds(const Node& sweep, Sweep& result) {
  const Node* seeds = config::find(sweep, "seeds");
  if (seeds == nullptr) return;
  std::string text;
  const auto add = [&](const Node& node) {
    const auto* seed = std::get_if<int64_t>(&node.value);
    if (seed == nullptr || *seed < 0)
      refuse_sweep(node.origin, "seeds", "must be a number of seeds, or a list of them, not " + describe(node));
    text += (text.empty() ? "" : ",") + std::to_string(*seed);
  };
  if (const auto* list = std::get_if<config::List>(&seeds->value)) {
    if (list->empty()) refuse_sweep(seeds->origin, "seeds", "must have at least one seed");
    std::ranges::for_each(*list, add);
    if (list->size() == 1) {
      result.seed = static_cast<uint64_t>(std::get<int64_t>(list->front().value));
      return;
    }
  } else {
    add(*seeds);
  }
  result.seeds = text;
}

/// Each of `points` with each of `choices`.
std::vector<SweepPoint> crossed(const std::vector<SweepPoint>& points, const std::vector<Choice>& choices) {
  std::vector<SweepPoint> all;
  for (const SweepPoint& point : points) {
    for (const Choice& choice : choices) {
      SweepPoint both = point;
      both.name += (both.name.empty() ? "" : "-") + choice.name;
      both.settings.insert(both.settings.end(), choice.settings.begin(), choice.settings.end());
      both.origins.insert(both.origins.end(), choice.origins.begin(), choice.origins.end());
      all.push_back(std::move(both));
    }
  }
  return all;
}

}  // namespace

config::Error with_origins_in_sweep(const config::Error& error, const SweepPoint& point,
                                    const std::vector<std::string>& given) {
  std::vector<config::Problem> problems = error.problems();
  for (config::Problem& problem : problems) {
    const auto of_problem = [&](const std::string& setting) { return key_of(setting) == problem.key; };
    if (problem.origin.source != config::kSetSource || std::ranges::any_of(given, of_problem)) continue;
    const auto setting = std::ranges::find_if(point.settings, of_problem);
    if (setting != point.settings.end())
      problem.origin = point.origins.at(static_cast<size_t>(setting - point.settings.begin()));
  }
  return config::Error(std::move(problems));
}

Sweep read_sweep(const std::filesystem::path& recipe) {
  const Node root = config::read_recipe(recipe);
  const Node* sweep = config::find(root, "sweep");
  const config::Origin whole{recipe.string(), 0};
  if (sweep == nullptr || sweep->table() == nullptr)
    refuse_sweep(
        sweep == nullptr ? whole : sweep->origin, "",
        "the recipe must have a table [sweep] that lists the values to try, such as model.cache.ratio = [0.25, 0.5]");
  std::vector<std::vector<Choice>> dimensions;
  if (auto variants = variants_of(*sweep); !variants.empty()) dimensions.push_back(std::move(variants));
  std::vector<Axis> axes;
  find_axes(*sweep, "", axes);
  for (const Axis& axis : axes) dimensions.push_back(choices_of(axis, axes));
  if (dimensions.empty())
    refuse_sweep(sweep->origin, "", "nothing varies: give a key of the recipe a list of values, or name variants");

  size_t count = 1;
  for (const auto& choices : dimensions) {
    count *= choices.size();
    if (count > kMaxSweepPoints)
      refuse_sweep(sweep->origin, "", "must not give more than " + std::to_string(kMaxSweepPoints) + " runs");
  }
  Sweep result{.points = {SweepPoint{}}};
  read_seeds(*sweep, result);
  for (const auto& choices : dimensions) result.points = crossed(result.points, choices);
  std::set<std::string> names;
  for (const SweepPoint& point : result.points)
    if (!names.insert(point.name).second)
      refuse_sweep(sweep->origin, "", "two runs would have the same name, " + point.name);
  return result;
}

}  // namespace cachet::tasks
