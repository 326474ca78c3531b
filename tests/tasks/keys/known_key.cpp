#include "tests/tasks/keys/known_key.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>

#include "cachet/config/problem.h"
#include "cachet/config/toml_text.h"
#include "cachet/tasks/recipe.h"
#include "tests/tasks/keys/child.h"

namespace cachet::test {
namespace {

constexpr int64_t kMostInteger = std::numeric_limits<int64_t>::max();
// Which family a recipe is of: its words are tried by the other families.
constexpr const char* kKindOfTask = "task.kind";
constexpr size_t kThousands = 5'000;  // entries of a long list

/// Keys that a reader asks for only where they are written (View::has), so that nothing lists them, and a value.
const std::vector<std::pair<std::string, std::string>>& asked_for() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"model.cache.length", "4"},
      {"model.norm.eps", "1e-6"},
      {"data.other_categories", "\"leave_out\""},
      {"train.limit", "\"1 steps\""},
      {"train.patience", "1"},
      {"model.bbox_head.anchors.octave_base_scale", "4.0"},
      {"model.bbox_head.anchors.scales_per_octave", "3"},
      {"model.rpn_head.anchors.octave_base_scale", "4.0"},
      {"model.rpn_head.anchors.scales_per_octave", "3"},
  };
  return all;
}

/// What the reader says of one key, "" where nothing; another key's problem does not count.
std::string complaint_of(const KeyFamily& family, const Settings& settings, const std::string& key) {
  try {
    config::Document document = document_of(family, settings);
    tasks::read_recipe(document);
  } catch (const config::Error& error) {
    for (const config::Problem& problem : error.problems())
      if (problem.key == key) return problem.message;
  }
  return "";
}

bool accepts(const KeyFamily& family, const Settings& settings) {
  try {
    config::Document document = document_of(family, settings);
    tasks::read_recipe(document);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Settings with(Settings settings, const std::string& key, const std::string& value) {
  settings.push_back(key + "=" + value);
  return settings;
}

/// With what the family says that the value needs besides.
Settings with_needs(const KeyFamily& family, Settings settings, const std::string& key, const std::string& value) {
  settings = with(std::move(settings), key, value);
  if (const auto needs = family.needs.find(settings.back()); needs != family.needs.end())
    settings.insert(settings.end(), needs->second.begin(), needs->second.end());
  return settings;
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

/// What the reader of a key takes, by what it says of a list of an empty list.
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

bool shapes_reading(const KnownKey& key) {
  return key.type == KnownKey::Type::word || key.type == KnownKey::Type::boolean;
}

// What comes from a child: one key a line, its parts apart by tabs.
std::string line_of(const KnownKey& key) {
  std::string line = key.path + '\t' + std::to_string(static_cast<int>(key.type)) + '\t' + key.usual + '\t';
  for (const std::string& word : key.words) line += word + ' ';
  return line + '\n';
}

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  size_t first = 0;
  for (size_t end = text.find(between); end != std::string::npos; end = text.find(between, first)) {
    parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  if (first < text.size()) parts.push_back(text.substr(first));
  return parts;
}

std::string answer_of(const KeyFamily& family, const std::string& what, const std::function<std::string()>& work) {
  data_of(family);
  const ChildOutcome outcome =
      in_child(work, {.processor_time = std::chrono::seconds(60), .time = std::chrono::seconds(300)});
  if (outcome.end != ChildOutcome::End::done)
    throw std::runtime_error(family.name + ", " + what + ": the reader failed: " + outcome.ending + outcome.printed);
  return outcome.text;
}

/// Those that are read there and are none of `before`; none where the reader refuses the word of `chosen` that led
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
        if (said.find("unknown key") == std::string::npos) keys.push_back(asked);
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

// --- values
// ------------------------------------------------------------------------------------------------------------

std::optional<std::string> bound_in(const std::string& complaint, const char* before) {
  const size_t at = complaint.find(before);
  if (at == std::string::npos) return std::nullopt;
  const size_t first = at + std::string_view(before).size();
  return complaint.substr(first, complaint.find_first_of(", ", first) - first);
}

/// The smallest or the largest integer that is accepted, as far as its reader has one bound.
std::optional<int64_t> integer_bound(const KeyFamily& family, const KnownKey& key, bool largest, int64_t usual,
                                     const std::function<std::string(int64_t)>& write) {
  const auto good = [&](int64_t value) { return accepts(family, with(key.context, key.path, write(value))); };
  const int64_t extreme = largest ? kMostInteger : std::numeric_limits<int64_t>::min();
  if (good(extreme)) return extreme;
  const std::string said = complaint_of(family, with(key.context, key.path, write(extreme)), key.path);
  if (const auto bound = bound_in(said, largest ? "at most " : "at least "); bound && good(std::stoll(*bound)))
    return std::stoll(*bound);
  // Other keys bound it: multiples and parts of what is usual, else what lies between.
  if (!good(usual)) return std::nullopt;
  int64_t best = usual, bad = extreme;
  for (int64_t next = usual; largest && next > 0 && next < (int64_t{1} << 40); next *= 2)
    if (good(next)) best = next;
  for (int64_t next = usual; !largest && next > 0; next /= 2)
    if (good(next)) best = next;
  while (largest ? bad - 1 > best : bad + 1 < best) {
    const int64_t middle = static_cast<int64_t>((static_cast<__int128>(best) + bad) / 2);
    if (middle == best || middle == bad) break;
    (good(middle) ? best : bad) = middle;
  }
  return best;
}

std::optional<double> real_bound(const KeyFamily& family, const KnownKey& key, bool largest, double usual,
                                 const std::function<std::string(double)>& write) {
  const auto good = [&](double value) { return accepts(family, with(key.context, key.path, write(value))); };
  const double extreme = largest ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
  if (good(extreme)) return extreme;
  const std::string said = complaint_of(family, with(key.context, key.path, write(extreme)), key.path);
  if (const auto bound = bound_in(said, largest ? "at most " : "at least ")) {
    if (const double value = std::stod(*bound); good(value)) return value;
  }
  if (const auto bound = largest ? std::nullopt : bound_in(said, "above ")) {
    const double value = std::nextafter(std::stod(*bound), 1e300);
    if (good(value)) return value;
  }
  if (!good(usual)) return std::nullopt;
  double best = usual, bad = extreme;
  for (int i = 0; i < 200; ++i) {
    const double middle = best / 2 + bad / 2;
    if (middle == best || middle == bad) break;
    (good(middle) ? best : bad) = middle;
  }
  return best;
}

std::vector<std::string> items_of(const std::string& list) {
  if (!list.starts_with('[')) return list.empty() ? std::vector<std::string>{} : std::vector<std::string>{list};
  std::vector<std::string> items = parts_of(list.substr(1, list.size() - 2), ',');
  for (std::string& item : items) item.erase(0, item.find_first_not_of(' '));
  return items;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() > 1 ? ", " : "") + item;
  return text + "]";
}

std::string all_alike(size_t count, const std::string& item) { return list_of(std::vector<std::string>(count, item)); }

/// Lists of no, one and thousands of entries, and as many as is usual of the smallest and the largest entry.
std::vector<std::string> lists_for(const KeyFamily& family, const KnownKey& key) {
  using Type = KnownKey::Type;
  const std::vector<std::string> usual = items_of(key.usual);
  const size_t count = std::max<size_t>(1, usual.size());
  const std::string item = usual.empty() ? (key.type == Type::texts ? "\"a\"" : "1") : usual.front();
  std::vector<std::string> values{"[]", list_of({item}), all_alike(kThousands, item)};
  if (key.type == Type::integers) {
    const auto write = [&](int64_t value) { return all_alike(count, std::to_string(value)); };
    for (const bool largest : {true, false})
      if (const auto bound = integer_bound(family, key, largest, std::stoll(item), write))
        values.push_back(write(*bound));
  }
  if (key.type == Type::reals) {
    const auto write = [&](double value) { return all_alike(count, config::toml_text(value)); };
    for (const bool largest : {true, false})
      if (const auto bound = real_bound(family, key, largest, std::stod(item), write)) values.push_back(write(*bound));
  }
  return values;
}

std::vector<std::string> spans() {
  return {"\"9223372036854775807 steps\"", "\"9223372036854775807 epochs\"", "\"1 steps\"", "\"1 epochs\"",
          "\"0 steps\""};
}

std::vector<std::string> texts() {
  return {"\"\"",
          "\"nowhere/at/all\"",
          "\"/\"",
          "\"..\"",
          "\"two\\nlines\"",
          "\"\\u001b[31m\"",
          '"' + std::string(kThousands, 'x') + '"'};
}

}  // namespace

Settings settings_of(const KeyFamily& family, const KnownKey& key, const std::string& value) {
  return with_needs(family, key.context, key.path, value);
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

std::vector<std::string> bounds_of(const KeyFamily& family, const KnownKey& key) {
  using Type = KnownKey::Type;
  const std::string text = answer_of(family, key.place(), [&] {
    std::vector<std::string> values;
    switch (key.type) {
      case Type::boolean:
      case Type::word:
        values = key.words;
        break;
      case Type::integer: {
        const auto write = [](int64_t value) { return std::to_string(value); };
        for (const bool largest : {true, false})
          if (const auto bound = integer_bound(family, key, largest, std::stoll(key.usual), write))
            values.push_back(write(*bound));
        break;
      }
      case Type::real: {
        const auto write = [](double value) { return config::toml_text(value); };
        for (const bool largest : {true, false})
          if (const auto bound = real_bound(family, key, largest, std::stod(key.usual), write))
            values.push_back(write(*bound));
        break;
      }
      case Type::span:
        values = spans();
        break;
      case Type::text:
        values = texts();
        break;
      case Type::integers:
      case Type::reals:
      case Type::texts:
        values = lists_for(family, key);
    }
    std::string lines;
    for (const std::string& value : values) lines += value + '\n';
    return lines;
  });
  return parts_of(text, '\n');
}

std::vector<std::string> smaller_than(const KeyFamily& family, const KnownKey& key, const std::string& value) {
  std::vector<std::string> smaller;
  const auto add = [&](const std::string& next) {
    if (next != value && std::ranges::find(smaller, next) == smaller.end()) smaller.push_back(next);
  };
  if (key.type == KnownKey::Type::integer) {
    const auto usual = std::max<int64_t>(1, std::stoll(key.usual));
    const double most = std::log2(static_cast<double>(std::stoll(value)) / static_cast<double>(usual));
    for (double exponent = std::floor(most / 2); exponent >= 1; exponent = std::floor(exponent / 2))
      add(std::to_string(usual << static_cast<int>(exponent)));
  }
  if (key.type == KnownKey::Type::integers && value.starts_with('[')) {
    const std::vector<std::string> usual = items_of(key.usual);
    if (usual.empty()) return {};
    for (const int factor : {64, 8, 2}) {
      std::vector<std::string> items;
      for (const std::string& item : usual) items.push_back(std::to_string(factor * std::stoll(item)));
      add(list_of(items));
    }
  }
  const std::string text = answer_of(family, key.place(), [&] {
    std::string lines;
    for (const std::string& next : smaller)
      if (accepts(family, with(key.context, key.path, next))) lines += next + '\n';
    return lines;
  });
  return parts_of(text, '\n');
}

}  // namespace cachet::test
