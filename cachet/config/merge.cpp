#include "cachet/config/merge.h"

#include <utility>

namespace cachet::config {
namespace {

bool replaces_kind(const Table& below, const Table& above) {
  const auto old_kind = below.find("kind");
  const auto new_kind = above.find("kind");
  if (old_kind == below.end() || new_kind == above.end()) return false;
  const auto* old_word = std::get_if<std::string>(&old_kind->second.value);
  const auto* new_word = std::get_if<std::string>(&new_kind->second.value);
  return old_word != nullptr && new_word != nullptr && *old_word != *new_word;
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
  if (replaces_kind(*lower, *upper)) leave_behind(*lower);
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
