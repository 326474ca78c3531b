#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/arguments/model_argument.h"
#include "app/arguments/one_of.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/config/glob.h"
#include "cachet/config/installed_folder.h"
#include "cachet/config/near_names.h"
#include "cachet/config/view.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/runs/paper_rows.h"

namespace cachet::app {
namespace {

constexpr const char* kReference = "docs/reference";
constexpr const char* kKeysFile = "keys.json";
constexpr int64_t kMaxKeysBytes = int64_t{1} << 22;
constexpr size_t kMostInFull = 3;  // keys that are printed in full; more of them are a table

struct KeysArguments {
  std::string key, recipe, task;
  ModelArgument model;
  bool json = false, wide = false;
};

/// A key as the reference describes it. A key of a recipe that the reference does not have only has a name and a value.
struct KeyEntry {
  std::string key{}, type{}, fallback{}, meaning{}, change{};
  std::vector<std::string> words{}, read_with{}, tasks{};
  std::optional<config::Document::Value> value{};  // in the recipe or of the model that was named
};

std::filesystem::path keys_file() {
  for (const std::filesystem::path& folder : config::installed_folders(kReference))
    if (std::filesystem::is_regular_file(folder / kKeysFile)) return folder / kKeysFile;
  throw io::Error(std::string("the file share/cachet/") + kReference + "/" + kKeysFile +
                  " of the installation is missing; install Cachet again");
}

std::vector<KeyEntry> all_keys() {
  const std::filesystem::path file = keys_file();
  const io::JsonFields json(io::read_text_file(file, kMaxKeysBytes), file.string());
  json.schema(/*newest=*/1);
  std::vector<KeyEntry> keys;
  for (const io::JsonFields& each : json.objects("keys"))
    keys.push_back({each.text("key"), each.text("type"), each.text("default"), each.text("meaning"),
                    each.text("change"), each.texts("values"), each.texts("read_with"), each.texts("tasks")});
  return keys;
}

/// The keys that readers asked a document for, each with its value, described as in `known`.
std::vector<KeyEntry> keys_of(const config::Document& document, const std::vector<KeyEntry>& known) {
  std::vector<KeyEntry> keys;
  for (const config::Document::Value& value : document.resolved()) {
    if (train::is_of_paper(value.key)) continue;
    const auto found = std::ranges::find(known, value.key, &KeyEntry::key);
    keys.push_back(found == known.end() ? KeyEntry{.key = value.key} : *found);
    keys.back().value = value;
  }
  return keys;
}

std::vector<KeyEntry> keys_of_recipe(const std::string& recipe, const std::vector<KeyEntry>& known) {
  config::Document document = read_document(find_recipe(recipe), {});
  tasks::read_recipe(document);
  return keys_of(document, known);
}

std::vector<KeyEntry> keys_of_model(const ModelArgument& model, const std::vector<KeyEntry>& known) {
  read_model(model);  // throws if there is no such model
  config::Document document;
  document.set("model.name=" + model.name);
  models::read_model(model.name, document.root().table("model"));
  return keys_of(document, known);
}

/// Whether a word names the key: the whole key, its last parts, a table around it, or a pattern.
bool is_named(const std::string& key, const std::string& word) {
  if (word.find_first_of("*?[") != std::string::npos)
    return config::glob_matches(word, key) || config::glob_matches("*." + word, key);
  return ("." + key + ".").find("." + word + ".") != std::string::npos;
}

/// Those that the word names. The whole name of a key names only this key.
std::vector<KeyEntry> named(std::vector<KeyEntry> keys, const std::string& word) {
  const auto same = std::ranges::find(keys, word, &KeyEntry::key);
  if (same != keys.end()) return {*same};
  std::erase_if(keys, [&](const KeyEntry& key) { return !is_named(key.key, word); });
  return keys;
}

std::string last_name(const std::string& key) { return key.substr(key.rfind('.') + 1); }

[[noreturn]] void refuse_word(const std::string& word, const std::vector<KeyEntry>& keys) {
  std::set<std::string> names;
  for (const KeyEntry& key : keys) names.insert({key.key, last_name(key.key)});
  const std::vector<std::string> list(names.begin(), names.end());
  throw UsageError("no key matches '" + word + "'" + config::suggestion(word, list) + "; `cachet keys` lists all");
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string type_text(const KeyEntry& key) {
  if (key.words.empty()) return key.type;
  std::vector<std::string> quoted;
  for (const std::string& word : key.words) quoted.push_back('"' + word + '"');
  return comma_list(quoted);
}

std::string meaning_text(const KeyEntry& key) {
  return key.meaning + (key.change.empty() ? "" : (key.meaning.empty() ? "" : " ") + key.change);
}

void print_in_full(const KeyEntry& key, const report::TextForm& form) {
  std::cout << key.key << '\n';
  const auto line = [](const char* name, const std::string& text) {
    if (!text.empty()) std::cout << "  " << name << ": " << text << '\n';
  };
  line("type", type_text(key));
  line("default", key.fallback);
  if (key.value) line("value", key.value->toml + " (" + key.value->origin.text() + ")");
  line("read with", comma_list(key.read_with));
  line("tasks", comma_list(key.tasks));
  if (const std::string meaning = meaning_text(key); !meaning.empty())
    std::cout << report::text_paragraph(meaning, form);
}

void print_table(const std::vector<KeyEntry>& keys, bool wide) {
  const bool has_values = !keys.empty() && keys.front().value.has_value();
  report::Table table;
  table.columns = {{"key"}, {"type"}, {has_values ? "value" : "default"}, {"meaning"}};
  for (const KeyEntry& key : keys)
    table.rows.push_back({key.key, type_text(key), has_values ? key.value->toml : key.fallback, meaning_text(key)});
  std::cout << report::text_table(table, printed_form(wide));
}

nlohmann::ordered_json to_json(const std::vector<KeyEntry>& keys) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const KeyEntry& key : keys) {
    entries.push_back({{"key", key.key},
                       {"type", key.type},
                       {"values", key.words},
                       {"default", key.fallback},
                       {"read_with", key.read_with},
                       {"tasks", key.tasks},
                       {"meaning", key.meaning},
                       {"change", key.change}});
    if (!key.value) continue;
    entries.back()["value"] = key.value->toml;
    entries.back()["origin"] = key.value->origin.text();
  }
  return {{"schema", kSchema}, {"keys", entries}};
}

std::vector<KeyEntry> chosen_keys(const KeysArguments& arguments) {
  std::vector<KeyEntry> keys = all_keys();
  if (!arguments.recipe.empty()) return keys_of_recipe(arguments.recipe, keys);
  if (!arguments.model.name.empty()) return keys_of_model(arguments.model, keys);
  if (!arguments.task.empty())
    std::erase_if(keys, [&](const KeyEntry& key) {
      return !key.tasks.empty() && std::ranges::find(key.tasks, arguments.task) == key.tasks.end();
    });
  return keys;
}

int run_keys(const KeysArguments& arguments) {
  std::vector<KeyEntry> keys = chosen_keys(arguments);
  if (!arguments.key.empty()) {
    std::vector<KeyEntry> found = named(keys, arguments.key);
    if (found.empty()) refuse_word(arguments.key, keys);
    keys = std::move(found);
  }
  if (arguments.json) {
    print_json(to_json(keys));
    return kDone;
  }
  if (arguments.key.empty() || keys.size() > kMostInFull) {
    print_table(keys, arguments.wide);
    return kDone;
  }
  for (const KeyEntry& key : keys) {
    if (&key != &keys.front()) std::cout << '\n';
    print_in_full(key, printed_form(arguments.wide));
  }
  return kDone;
}

std::vector<std::string> task_words() {
  std::vector<std::string> words;
  for (const tasks::TaskKind& kind : tasks::task_kinds()) words.push_back(kind.name);
  return words;
}

Action declare_keys(CLI::App& app) {
  auto arguments = std::make_shared<KeysArguments>();
  app.add_option("KEY", arguments->key,
                 "A key such as model.cache.ratio, its last part (ratio), a table (model.cache) or a pattern such as "
                 "'*dropout' (default: all)")
      ->type_name("");
  CLI::Option* recipe =
      app.add_option("--recipe", arguments->recipe, "Print only the keys of this recipe, with its values")
          ->type_name("RECIPE");
  CLI::Option* model =
      app.add_option("--model", arguments->model.name, "Print only the keys of this model, with its defaults")
          ->type_name("NAME")
          ->excludes(recipe);
  app.add_option("--task", arguments->task,
                 "Print only the keys of recipes for this task: detection, translation and so on")
      ->check(one_of(task_words()).description(""))  // the list is wider than a terminal
      ->type_name("KIND")
      ->excludes(recipe)
      ->excludes(model);
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  return [arguments] { return run_keys(*arguments); };
}

const Registration registered_keys({Topic::runs,
                                    "keys",
                                    "Print the keys of recipes with type, default and meaning",
                                    {"cachet keys model.cache", "cachet keys ratio --recipe demo_cached",
                                     "cachet keys --model deit_tiny_patch16_224",
                                     "cachet keys --task translation --json"},
                                    declare_keys});

}  // namespace
}  // namespace cachet::app
