#include "cachet/config/merge.h"

#include <utility>

namespace cachet::config {
namespace {

/// A table that names no kind is of the default one, which is not known here: what it has may belong to another kind.
bool may_replace_kind(const Table& below, const Table& above) {
  const auto old_kind = below.find("kind");
  const auto new_kind = above.find("kind");
  if (new_kind == above.end()) return false;
  if (old_kind == below.end()) return true;
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
  if (may_replace_kind(*lower, *upper)) leave_behind(*lower);
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
