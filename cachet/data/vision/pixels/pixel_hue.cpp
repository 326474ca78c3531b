#include <algorithm>
#include <cmath>

#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::data {
namespace {

struct Hsv {
  uint8_t hue, saturation, value;
};

// The hexagon of colours (Smith 1978), in 8 bits cut off towards zero. Rounded to float32 where Pillow does, or values
// that should be whole would be cut off a level lower.
Hsv hsv_of(const uint8_t* rgb) {
  const auto [least, most] = std::minmax({rgb[0], rgb[1], rgb[2]});
  if (least == most) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const auto below = [&](int c) { return static_cast<float>(most - rgb[c]) / range; };
  double sixths = 0;
  if (rgb[0] == most) {
    sixths = below(2) - below(1);
  } else if (rgb[1] == most) {
    sixths = 2.0 + below(0) - below(2);
  } else {
    sixths = 4.0 + below(1) - below(0);
  }
  const auto turn = static_cast<float>(std::fmod(static_cast<double>(static_cast<float>(sixths)) / 6 + 1, 1.0));
  const auto saturation = range / static_cast<float>(most);
  return {static_cast<uint8_t>(double{turn} * 255), static_cast<uint8_t>(double{saturation} * 255), most};
}

void put_rgb(const Hsv& colour, uint8_t* rgb) {
  const double sixths = colour.hue * 6.0 / 255, share = colour.saturation / 255.0;
  const auto sector = static_cast<int>(sixths);
  const double rest = sixths - sector;
  const auto lowered = [&](double by) { return static_cast<uint8_t>(std::lround(colour.value * (1 - share * by))); };
  const uint8_t v = colour.value, p = lowered(1), q = lowered(rest), t = lowered(1 - rest);
  const uint8_t sectors[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  std::copy_n(sectors[sector % 6], 3, rgb);
}

}  // namespace

void adjust_hue(at::Tensor& image, double share) {
  if (image.size(2) == 1) return;
  const auto turn = static_cast<uint8_t>(static_cast<int>(share * 255));  // negative turns wrap around
  auto* pixel = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.size(0) * image.size(1); ++i, pixel += 3) {
    Hsv colour = hsv_of(pixel);
    colour.hue = static_cast<uint8_t>(colour.hue + turn);
    put_rgb(colour, pixel);
  }
}

}  // namespace cachet::data
