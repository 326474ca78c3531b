#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cachet::app {

/// What came of one of a series: it is over, another process trains it, or the user wants to stop.
enum class Came { to_an_end, elsewhere, interrupted };

/// Calls train(item) for each of a series that several processes may share, and again for what is elsewhere, while a
/// round leaves fewer: what others had may be theirs no more at its end, done or not. Returns what is left to the
/// others, and nothing where it was interrupted.
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
