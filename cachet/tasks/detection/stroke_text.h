#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace cachet::tasks {

/// Letters drawn as lines, for words in pictures: capital letters, digits and the usual punctuation of names.
/// Lower-case letters are drawn as capital letters, and other characters as a box.
struct StrokeText {
  int64_t scale = 1;  // pixels per unit; a letter is 5 units wide and 7 units high, and 1 unit separates letters

  int64_t width(std::string_view text) const { return scale * 6 * static_cast<int64_t>(text.size()); }
  int64_t height() const { return scale * 7; }

  /// Calls draw(x, y) for each pixel of the text, whose upper left corner is (0, 0). The function may call draw() more
  /// than once for the same pixel.
  void for_pixels(std::string_view text, const std::function<void(int64_t x, int64_t y)>& draw) const;
};

}  // namespace cachet::tasks
