#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace cachet::tasks {

/// Letters of lines, for words in pictures: capital letters, digits and what names have between them; small letters
/// are drawn as capital ones, what there is no letter for as a box.
struct StrokeText {
  int64_t scale = 1;  // pixels of a unit: a letter is 5 units wide and 7 high, with one to the next

  int64_t width(std::string_view text) const { return scale * 6 * static_cast<int64_t>(text.size()); }
  int64_t height() const { return scale * 7; }

  /// Calls draw(x, y) for pixels of the text, from (0, 0) on, some of them more than once.
  void for_pixels(std::string_view text, const std::function<void(int64_t x, int64_t y)>& draw) const;
};

}  // namespace cachet::tasks
