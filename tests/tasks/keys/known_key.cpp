#include "tests/tasks/keys/known_key.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <utility>

#include "cachet/config/problem.h"
#include "cachet/tasks/recipe.h"
#include "tests/tasks/keys/reader_answers.h"

namespace cachet::test {
namespace {

// Which family a recipe is of: its words are tried by the other families.
constexpr const char* kKindOfTask = "task.kind";

/// Keys that a reader asks for only where they are written (View::has), so that nothing lists them, and a value.
const std::vector<std::pair<std::string, std::string>>& asked_for() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"model.cache.length", "4"},
      {"model.norm.eps", "1e-6"},
      {"data.other_categories", "\"leave_out\""},
      {"data.stored_size", "[8, 8]"},
      {"data.test_folder", "\"val\""},
      {"data.test_shards", "\"val-*.tar\""},
      {"data.test_annotations", "\"annotations/instances_val.json\""},
      {"data.test_images", "\"images/val\""},
      {"data.validation_fraction", "0.25"},
      {"task.held_out", "\"validation\""},
      {"train.limit", "\"1 steps\""},
      {"train.patience", "1"},
      {"model.bbox_head.anchors.octave_base_scale", "4.0"},
      {"model.bbox_head.anchors.scales_per_octave", "3"},
      {"model.rpn_head.anchors.octave_base_scale", "4.0"},
      {"model.rpn_head.anchors.scales_per_octave", "3"},
  };
  return all;
}

/// Its keys and their values as TOML, in the order of reading, whether the reader takes the whole or not.
std::vector<std::pair<std::string, std::string>> read_keys(const KeyFamily& family, const Settings& context) {
  config::Document document = document_of(family, context);
  try {
    tasks::read_recipe(document);
  } catch (const config::Error&) {
  }
  std::vector<std::pair<std::string, std::string>> keys;
  for (const config::Document::Value& value : document.resolved()) keys.emplace_back(value.key, value.toml);
  return keys;
}

std::vector<std::string> words_in(const std::string& complaint) {
  std::vector<std::string> words;
  const std::string listed = complaint.substr(0, complaint.find(", not "));
  static const std::regex quoted("\"[^\"]*\"");
  for (std::sregex_iterator i(listed.begin(), listed.end(), quoted), end; i != end; ++i) words.push_back(i->str());
  return words;
}

/// The values that the reader of a key accepts, from its message about a list of an empty list.
void find_type(const KeyFamily& family, KnownKey& key) {
  using Type = KnownKey::Type;
  const std::string said = complaint_of(family, with(key.context, key.path, "[[]]"), key.path);
  const auto begins = [&](const char* words) { return said.starts_with(words); };
  if (begins("must be true")) {
    key.type = Type::boolean;
    key.words = {"true", "false"};
  } else if (begins("must be \"")) {
    key.type = Type::word;
    key.words = words_in(said);
  } else if (begins("must be an integer")) {
    key.type = Type::integer;
  } else if (begins("must be a number")) {
    key.type = Type::real;
  } else if (begins("must be a text")) {
    static const std::regex span("\"[0-9]+ (step|epoch)s?\"");
    key.type = std::regex_match(key.usual, span) ? Type::span : Type::text;
  } else if (begins("item 1 must be an integer")) {
    key.type = Type::integers;
  } else if (begins("item 1 must be a number")) {
    key.type = Type::reals;
  } else if (begins("item 1 must be a text")) {
    key.type = Type::texts;
  } else {
    throw std::logic_error(key.path + ": its reader says of [[]]: " + said);
  }
}

/// With all that the value needs in addition, as the family defines.
Settings with_needs(const KeyFamily& family, Settings settings, const std::string& key, const std::string& value) {
  settings = with(std::move(settings), key, value);
  if (const auto needs = family.needs.find(settings.back()); needs != family.needs.end())
    settings.insert(settings.end(), needs->second.begin(), needs->second.end());
  return settings;
}

bool shapes_reading(const KnownKey& key) {
  return key.type == KnownKey::Type::word || key.type == KnownKey::Type::boolean;
}

// What comes from a child: one key a line, its parts apart by tabs.
std::string line_of(const KnownKey& key) {
  std::string line = key.path + '\t' + std::to_string(static_cast<int>(key.type)) + '\t' + key.usual + '\t';
  for (const std::string& word : key.words) line += word + ' ';
  return line + '\n';
}

/// Those that are read there and are not among `before`; none where the reader refuses the word of `chosen` that led
/// there.
std::vector<KnownKey> keys_in_context(const KeyFamily& family, const Settings& context, const std::string& chosen,
                                      const std::set<std::string>& before) {
  const std::string text = answer_of(family, context.empty() ? "its recipe" : context.back(), [&] {
    std::string lines;
    if (!chosen.empty() && !complaint_of(family, context, chosen).empty()) return lines;
    std::vector<std::pair<std::string, std::string>> keys = read_keys(family, context);
    std::set<std::string> tables;
    for (const auto& [path, usual] : keys) tables.insert(path.substr(0, path.rfind('.')));
    for (const auto& asked : asked_for()) {
      const bool listed = std::ranges::find(keys, asked.first, [](const auto& key) { return key.first; }) != keys.end();
      if (!listed && !before.contains(asked.first) && tables.contains(asked.first.substr(0, asked.first.rfind('.')))) {
        const std::string said = complaint_of(family, with(context, asked.first, asked.second), asked.first);
        const bool is_key = said.find("unknown key") == std::string::npos && !said.ends_with("leave it out");
        if (is_key) keys.push_back(asked);
      }
    }
    for (const auto& [path, usual] : keys) {
      if (before.contains(path) || path == kKindOfTask) continue;
      KnownKey key{path, context, usual, {}, {}};
      find_type(family, key);
      lines += line_of(key);
    }
    return lines;
  });
  std::vector<KnownKey> keys;
  for (const std::string& line : parts_of(text, '\n')) {
    const std::vector<std::string> parts = parts_of(line, '\t');
    KnownKey key{parts.at(0), context, parts.at(2), static_cast<KnownKey::Type>(std::stoi(parts.at(1))), {}};
    if (parts.size() > 3) key.words = parts_of(parts[3], ' ');
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

Settings settings_of(const KeyFamily& family, const KnownKey& key, const std::string& value) {
  return with_needs(family, key.context, key.path, value);
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() > 1 ? ", " : "") + item;
  return text + "]";
}

std::string KnownKey::place() const { return path + (context.empty() ? "" : " with " + list_of(context)); }

std::vector<KnownKey> known_keys(const KeyFamily& family) {
  struct Place {
    Settings context;
    std::string chosen;            // the key whose word led here
    std::set<std::string> before;  // the keys that were read without that word
  };
  std::vector<KnownKey> all;
  std::deque<Place> places{{}};
  while (!places.empty()) {
    const Place place = std::move(places.front());
    places.pop_front();
    std::set<std::string> here = place.before;
    std::vector<KnownKey> found;
    for (KnownKey& key : keys_in_context(family, place.context, place.chosen, place.before))
      if (here.insert(key.path).second) found.push_back(std::move(key));
    for (const KnownKey& key : found) {
      if (!shapes_reading(key)) continue;
      for (const std::string& word : key.words) {
        if (word == key.usual || family.elsewhere.contains(key.path + "=" + word)) continue;
        Settings context = with_needs(family, place.context, key.path, word);
        places.push_back({std::move(context), key.path, here});
      }
    }
    std::ranges::move(found, std::back_inserter(all));
  }
  return all;
}

}  // namespace cachet::test
