#include "cachet/data/vision/augmentation/color_jitter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::data {

void jitter_colours(at::Tensor& image, const ColorJitterOptions& options, CounterRandom random) {
  const auto factor = [&random](double spread) { return random.uniform(std::max(0.0, 1 - spread), 1 + spread); };
  const double brightness = factor(options.brightness), contrast = factor(options.contrast);
  const double saturation = factor(options.saturation), hue = random.uniform(-options.hue, options.hue);
  std::array<int, 4> order{0, 1, 2, 3};
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  for (const int step : order) {
    if (step == 0 && options.brightness > 0) adjust_brightness(image, brightness);
    if (step == 1 && options.contrast > 0) adjust_contrast(image, contrast);
    if (step == 2 && options.saturation > 0) adjust_saturation(image, saturation);
    if (step == 3 && options.hue > 0) adjust_hue(image, hue);
  }
}

}  // namespace cachet::data
