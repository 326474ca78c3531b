#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cachet::app {

/// The result for an item of a series: finished, in training by another process, or interrupted by the user.
enum class Came { to_an_end, elsewhere, interrupted };

/// Calls train(item) for each item of a series that several processes may share. Then repeats this for items of other
/// processes, as long as each round leaves fewer items, because another process may release an item, finished or not.
/// Returns the items that other processes still have, or nullopt after an interruption.
template <class Item, class Train>
std::optional<std::vector<Item>> train_shared(std::vector<Item> left, const Train& train) {
  for (size_t before = left.size() + 1; !left.empty() && left.size() < before;) {
    before = left.size();
    std::vector<Item> elsewhere;
    for (const Item& item : left) {
      const Came came = train(item);
      if (came == Came::interrupted) return std::nullopt;
      if (came == Came::elsewhere) elsewhere.push_back(item);
    }
    left = std::move(elsewhere);
  }
  return left;
}

}  // namespace cachet::app
