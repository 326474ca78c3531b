#include "cachet/config/document_state.h"

#include <algorithm>
#include <utility>

namespace cachet::config {

void Document::State::record(const std::string& key, std::string toml, Origin origin) {
  const bool first = positions.emplace(key, values.size()).second;
  if (first) values.push_back({key, std::move(toml), std::move(origin)});
}

void Document::State::add_problem(const std::string& key, const std::string& message) {
  const bool known = std::ranges::any_of(
      problems, [&](const Problem& problem) { return problem.key == key && problem.message == message; });
  if (!known) problems.push_back({place(key), key, message});
}

void Document::State::add_note(const std::string& key, const std::string& message) {
  const std::string line = place(key).text() + ": " + key + ": " + message;
  if (std::ranges::find(notes, line) == notes.end()) notes.push_back(line);
}

Origin Document::State::place(std::string key) const {
  for (;;) {
    if (const Node* node = find(root, key)) return node->origin;
    const size_t dot = key.rfind('.');
    key.resize(dot == std::string::npos ? 0 : dot);  // at last "", the root, which is always there
  }
}

}  // namespace cachet::config
