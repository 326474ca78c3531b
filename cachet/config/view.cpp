#include "cachet/config/view.h"

#include "cachet/config/document_state.h"
#include "cachet/config/reading.h"
#include "cachet/config/toml_text.h"

namespace cachet::config {
namespace {

constexpr auto kAsToml = [](const auto& value) { return toml_text(value); };

}  // namespace

/// The value of a key that `read` finds in its node, else the default; recorded as `write` writes it.
template <class T, class Read, class Write>
T View::settle(std::string_view key, T fallback, Read read, Write write) const {
  const std::string path = join_path(path_, key);
  Origin origin{kDefaultSource, 0};
  T value = std::move(fallback);
  const Node* written = find(state_->root, path);
  if (const Node* node = written != nullptr ? written : find(state_->earlier_defaults, path)) {
    auto reading = read(*node);
    if (reading.value) {
      if (written != nullptr)
        origin = node->origin;
      else if (write(*reading.value) != write(value))
        origin = {kEarlierSource, 0};
      value = *std::move(reading.value);
    } else {
      state_->add_problem(path, reading.complaint);
    }
  }
  state_->record(path, write(value), std::move(origin));
  return value;
}

void View::decide(std::string_view key, std::string_view word) const {
  const auto place = state_->positions.find(join_path(path_, key));
  if (place != state_->positions.end()) state_->values[place->second].toml = toml_text(std::string(word));
}

bool View::has(std::string_view key) const {
  const std::string path = join_path(path_, key);
  state_->mentioned.insert(path);
  return find(state_->root, path) != nullptr;
}

View View::table(std::string_view key) const {
  std::string path = join_path(path_, key);
  const Node* node = find(state_->root, path);
  if (node != nullptr && node->table() == nullptr) {
    state_->add_problem(path, "must be a table, not " + describe(*node) + "; set the keys of the table");
  }
  state_->tables.insert(path);
  return View(state_, std::move(path));
}

bool View::boolean(std::string_view key, bool fallback) const { return settle(key, fallback, read_boolean, kAsToml); }

int64_t View::integer(std::string_view key, int64_t fallback, Range<int64_t> range) const {
  return settle(
      key, fallback, [&](const Node& node) { return read_integer(node, range); }, kAsToml);
}

CountOrFraction View::count_or_fraction(std::string_view key, CountOrFraction fallback, Range<int64_t> range,
                                        std::string_view whole) const {
  return settle(
      key, fallback, [&](const Node& node) { return read_count_or_fraction(node, range, whole); },
      [](const CountOrFraction& value) {
        return value.percent > 0 ? toml_text(percent_text(value.percent)) : toml_text(value.count);
      });
}

double View::real(std::string_view key, double fallback, Range<double> range) const {
  return settle(
      key, fallback, [&](const Node& node) { return read_real(node, range); }, kAsToml);
}

std::string View::text(std::string_view key, std::string_view fallback) const {
  return settle(key, std::string(fallback), read_text, kAsToml);
}

std::string View::required_text(std::string_view key) const {
  const std::string path = join_path(path_, key);
  const Node* node = find(state_->root, path);
  if (node == nullptr) {
    state_->add_problem(path, "is required and must be a text");
    state_->record(path, toml_text(std::string()), {"required", 0});
    return "";
  }
  std::string value = text(key, "");
  if (value.empty() && read_text(*node).value) state_->add_problem(path, "must not be empty");
  return value;
}

std::vector<int64_t> View::integers(std::string_view key, std::vector<int64_t> fallback, Range<int64_t> range) const {
  const auto item = [&](const Node& node) { return read_integer(node, range); };
  const auto read = [&](const Node& node) { return read_list<int64_t>(node, "integers", item); };
  return settle(key, std::move(fallback), read, kAsToml);
}

std::vector<double> View::reals(std::string_view key, std::vector<double> fallback, Range<double> range) const {
  const auto item = [&](const Node& node) { return read_real(node, range); };
  const auto read = [&](const Node& node) { return read_list<double>(node, "numbers", item); };
  return settle(key, std::move(fallback), read, kAsToml);
}

std::vector<std::string> View::texts(std::string_view key, std::vector<std::string> fallback) const {
  const auto read = [](const Node& node) { return read_list<std::string>(node, "texts", read_text); };
  return settle(key, std::move(fallback), read, kAsToml);
}

std::array<int64_t, 2> View::integer_pair(std::string_view key, std::array<int64_t, 2> fallback,
                                          Range<int64_t> range) const {
  const auto read = [&](const Node& node) { return read_pair(node, range); };
  return settle(key, fallback, read, [](const std::array<int64_t, 2>& pair) {
    return pair[0] == pair[1] ? toml_text(pair[0]) : toml_text(std::vector<int64_t>(pair.begin(), pair.end()));
  });
}

void View::refuse(std::string_view key, const std::string& message) const {
  const std::string path = join_path(path_, key);
  const Node* node = find(state_->root, path);
  if (node == nullptr || node->left_behind) return;
  state_->record(path, "", node->origin);  // known, so that nothing else is reported about it
  state_->add_problem(path, message);
}

void View::problem(std::string_view key, const std::string& message) const {
  state_->add_problem(join_path(path_, key), message);
}

void View::note(std::string_view key, const std::string& message) const {
  state_->add_note(join_path(path_, key), message);
}

size_t View::word_index(std::string_view key, size_t fallback, std::span<const std::string_view> words) const {
  const auto read = [&](const Node& node) { return read_word(node, words); };
  return settle(key, fallback, read, [&](size_t index) { return toml_text(words[index]); });
}

}  // namespace cachet::config
