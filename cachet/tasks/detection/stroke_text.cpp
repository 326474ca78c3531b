#include "cachet/tasks/detection/stroke_text.h"

#include <algorithm>
#include <cmath>

namespace cachet::tasks {
namespace {

// Lines of a letter: x and y of each corner, 0 … 4 and 0 … 6, a space between lines.
std::string_view strokes(char symbol) {
  constexpr std::string_view kLetters[] = {"0602204246 0444",
                                           "00063645443303 3342413000",
                                           "4130100105163645",
                                           "00063645413000",
                                           "40000646 0333",
                                           "400006 0333",
                                           "41301001051636454323",
                                           "0006 4046 0343",
                                           "1030 2026 1636",
                                           "4045361605",
                                           "0006 400346",
                                           "000646",
                                           "0600224046",
                                           "06004640",
                                           "103041453616050110",
                                           "06003041423303",
                                           "103041453616050110 2446",
                                           "06003041423303 2346",
                                           "413010010213334445361605",
                                           "0040 2026",
                                           "000516364540",
                                           "002640",
                                           "0016243640",
                                           "0046 4006",
                                           "002340 2326",
                                           "00400646"};
  constexpr std::string_view kDigits[] = {
      "103041453616050110 3115",     "112026 1636", "01103041420646",
      "0110304142334445361605 2333", "36300444",    "4000033344453606",
      "30100105163645443303",        "004016",      "103041423344453616050413020110 1333",
      "43130201103041453616"};
  if (symbol >= 'a' && symbol <= 'z') return kLetters[symbol - 'a'];
  if (symbol >= 'A' && symbol <= 'Z') return kLetters[symbol - 'A'];
  if (symbol >= '0' && symbol <= '9') return kDigits[symbol - '0'];
  switch (symbol) {
    case ' ':
      return "";
    case '.':
      return "2526";
    case '-':
      return "1333";
    case '_':
      return "0646";
    default:
      return "0040460600";
  }
}

}  // namespace

void StrokeText::for_pixels(std::string_view text, const std::function<void(int64_t x, int64_t y)>& draw) const {
  int64_t left = 0;
  const auto dot = [&](double x, double y) {
    const auto px = static_cast<int64_t>(std::lround(x * static_cast<double>(scale)));
    const auto py = static_cast<int64_t>(std::lround(y * static_cast<double>(scale)));
    for (int64_t i = 0; i < scale * scale; ++i) draw(left + px + i % scale, py + i / scale);
  };
  for (const char symbol : text) {
    const std::string_view corners = strokes(symbol);
    for (size_t i = 0; i + 3 < corners.size(); i += 2) {
      if (corners[i + 2] == ' ') {  // the next line begins after the space
        ++i;
        continue;
      }
      const double x0 = corners[i] - '0', y0 = corners[i + 1] - '0', x1 = corners[i + 2] - '0',
                   y1 = corners[i + 3] - '0';
      const double steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0}) * static_cast<double>(scale);
      for (double step = 0; step <= steps; ++step) dot(x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps);
    }
    left += 6 * scale;
  }
}

}  // namespace cachet::tasks
