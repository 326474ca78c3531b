#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace cachet::tasks {

/// Letters drawn as lines, for words in pictures: capital letters, digits and the usual punctuation of names.
/// Lower-case letters are drawn as capital letters, and other characters as a box.
struct StrokeText {
  int64_t scale = 1;  // pixels per unit; a letter is 5 units wide, 7 high, with 1 unit to the next

  int64_t width(std::string_view text) const { return scale * 6 * static_cast<int64_t>(text.size()); }
  int64_t height() const { return scale * 7; }

  /// Calls draw(x, y) for the pixels of the text, from (0, 0) on. Some pixels may be drawn more than once.
  void for_pixels(std::string_view text, const std::function<void(int64_t x, int64_t y)>& draw) const;
};

}  // namespace cachet::tasks
