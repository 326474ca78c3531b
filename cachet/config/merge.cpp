#include "cachet/config/merge.h"

#include <utility>

namespace cachet::config {
namespace {

bool replaces(const char* key, const Table& below, const Table& above) {
  const auto old = below.find(key), fresh = above.find(key);
  if (old == below.end() || fresh == above.end()) return false;
  const auto* old_word = std::get_if<std::string>(&old->second.value);
  const auto* new_word = std::get_if<std::string>(&fresh->second.value);
  return old_word != nullptr && new_word != nullptr && *old_word != *new_word;
}

// What a table's other keys belong to: the kind of a plug-in, the name of a model.
bool becomes_another(const Table& below, const Table& above) {
  return replaces("kind", below, above) || replaces("name", below, above);
}

void leave_behind(Table& table) {
  for (auto& [key, node] : table) {
    node.left_behind = node.left_behind || node.origin.source != kSetSource;
    if (Table* inner = node.table()) leave_behind(*inner);
  }
}

}  // namespace

void merge_over(Node& below, Node above) {
  Table* lower = below.table();
  Table* upper = above.table();
  if (lower == nullptr || upper == nullptr) {
    below = std::move(above);
    return;
  }
  if (becomes_another(*lower, *upper)) leave_behind(*lower);
  for (auto& [key, node] : *upper) {
    const auto place = lower->find(key);
    if (place == lower->end()) {
      lower->emplace(key, std::move(node));
    } else {
      merge_over(place->second, std::move(node));
    }
  }
  if (above.origin.source != kSetSource) below.origin = above.origin;  // an option adds to a table, a recipe writes one
  below.left_behind = false;
}

}  // namespace cachet::config
