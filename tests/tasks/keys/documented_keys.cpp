#include "tests/tasks/keys/documented_keys.h"

#include <filesystem>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "cachet/config/problem.h"
#include "cachet/io/files/read_file.h"
#include "cachet/tasks/recipe.h"
#include "tests/support/test_data.h"

namespace cachet::test {
namespace {

namespace fs = std::filesystem;

using Keys = std::map<std::string, std::string>;

fs::path checkout() { return fs::path(test_data()).parent_path().parent_path(); }

template <class Use>
void for_each_file(const fs::path& folder, const char* extension, const Use& use) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == extension) use(entry.path());
}

constexpr const char* kTables = "(?:data|model|optimizer|paper|schedule|task|train)";

void add_keys_of_page(const fs::path& page, Keys& keys) {
  static const std::regex given(std::string("(?:`|--set '?)(") + kTables + "(?:\\.[a-z_0-9]+)+) ?="),
      header(std::string("\\[(") + kTables + "(?:\\.[a-z_0-9]+)*)\\]"), entry("([a-z_0-9]+) = .*");
  std::istringstream text(io::read_text_file(page, 1 << 22));
  bool in_block = false;
  std::string table, line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::string place = page.filename().string() + ":" + std::to_string(number);
    std::smatch match;
    if (line.starts_with("```")) {
      in_block = line == "```toml";
      table.clear();
    } else if (in_block && line.starts_with('[')) {
      table = std::regex_search(line, match, header) ? match[1].str() : "";
    } else if (in_block && !table.empty() && std::regex_match(line, match, entry)) {
      keys.emplace(table + "." + match[1].str(), place);
    }
    for (std::sregex_iterator i(line.begin(), line.end(), given), end; i != end; ++i)
      keys.emplace((*i)[1].str(), place);
  }
}

void add_keys_of_recipe(const fs::path& recipe, Keys& keys) {
  config::Document document = config::Document::from_file(recipe);
  try {
    tasks::read_recipe(document, data::DataRoot::optional);
  } catch (const config::Error&) {  // a recipe without its data, which its user names
  }
  for (const config::Document::Value& value : document.resolved())
    if (value.origin.source != "default" && value.origin.source != "required")
      keys.emplace(value.key, value.origin.text());
}

}  // namespace

Keys documented_keys() {
  Keys keys;
  for_each_file(checkout() / "docs", ".md", [&](const fs::path& page) {
    if (page.filename() != "your-own-task.md") add_keys_of_page(page, keys);  // whose program reads keys of its own
  });
  for_each_file(checkout() / "recipes", ".toml", [&](const fs::path& recipe) { add_keys_of_recipe(recipe, keys); });
  return keys;
}

Keys keys_asked_for() {
  static const std::regex asked("(?:table|data|view|model|task|root)\\.has\\(\"([a-z_0-9]+)\"\\)");
  Keys keys;
  for_each_file(checkout() / "cachet", ".cpp", [&](const fs::path& source) {
    const std::string text = io::read_text_file(source, 1 << 22);
    for (std::sregex_iterator i(text.begin(), text.end(), asked), end; i != end; ++i)
      keys.emplace((*i)[1].str(), source.filename().string());
  });
  return keys;
}

}  // namespace cachet::test
