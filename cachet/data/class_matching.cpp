#include "cachet/data/class_matching.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "cachet/config/utf8.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr size_t kMaxStoredBytes = 500'000;  // half of a recipe's file (config/recipe_file.h)
constexpr size_t kShownNames = 5;

/// "'a', 'b' and 3 more".
std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShownNames); ++i)
    text += (i == 0 ? "" : ", ") + io::in_quotes(names[i]);
  return names.size() <= kShownNames ? text : text + " and " + std::to_string(names.size() - kShownNames) + " more";
}

std::map<std::string_view, int64_t> indices(const std::vector<std::string>& names, std::string_view place,
                                            const char* whose) {
  std::map<std::string_view, int64_t> found;
  for (const std::string& name : names)
    if (!found.emplace(name, static_cast<int64_t>(found.size())).second)
      throw io::Error(std::string(place) + ": two classes of the " + whose + " are called " + io::in_quotes(name) +
                      ", so classes cannot be matched by name");
  return found;
}

}  // namespace

std::vector<std::string> read_class_names(const config::View& data) {
  if (!data.has("class_names")) return {};
  std::vector<std::string> names = data.texts("class_names", {});
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  if (!sorted.empty() && sorted.front().empty()) data.problem("class_names", "must not have an empty name");
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end() && !twice->empty())
    data.problem("class_names", "has " + io::in_quotes(*twice) + " more than once; class names must differ");
  return names;
}

std::vector<int64_t> match_classes(const std::vector<std::string>& data_names,
                                   const std::vector<std::string>& model_names, std::string_view place) {
  indices(data_names, place, "data");
  const auto classes = indices(model_names, place, "model");
  std::vector<int64_t> matched;
  std::vector<std::string> unknown;
  for (const std::string& name : data_names) {
    const auto found = classes.find(name);
    if (found == classes.end())
      unknown.push_back(name);
    else
      matched.push_back(found->second);
  }
  if (!unknown.empty())
    throw io::Error(std::string(place) + ": the model has no class " + some_of(unknown) + ". Its " +
                    std::to_string(model_names.size()) + " classes are " + some_of(model_names) +
                    ". Rename the classes of the data, or remove the classes that the model does not have");
  return matched;
}

std::vector<int64_t> match_numbered_classes(const std::vector<std::string>& data_names,
                                            const std::vector<std::string>& model_names, std::string_view place) {
  if (!are_numbers(data_names) && !are_numbers(model_names)) return match_classes(data_names, model_names, place);
  if (data_names.size() != model_names.size())
    throw io::Error(std::string(place) + ": has " + std::to_string(data_names.size()) +
                    " classes with numbers instead of names, so data.class_names must have one name for each class, "
                    "but the number of names is " +
                    std::to_string(model_names.size()));
  std::vector<int64_t> same(data_names.size());
  std::iota(same.begin(), same.end(), int64_t{0});
  return same;
}

bool are_numbers(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != std::to_string(i)) return false;
  return true;
}

bool can_be_stored(const std::vector<std::string>& names) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return false;
  size_t bytes = 0;
  for (const std::string& name : names) {
    if (name.empty() || config::first_invalid_utf8(name) != std::string::npos) return false;
    bytes += name.size() + 4;  // quotes, comma and space; what TOML escapes is rare in names
  }
  return bytes <= kMaxStoredBytes;
}

}  // namespace cachet::data
