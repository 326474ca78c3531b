#include "cachet/data/vision/augmentation/random_erasing.h"

#include <algorithm>
#include <cmath>

#include "cachet/io/images/image_request.h"

namespace cachet::data {
namespace {

// A rectangle whose fraction of the area and whose aspect lie within the bounds; an empty one if none of ten draws
// fits.
io::ImageRegion draw_erased(const ErasingOptions& options, const ImageShape& shape, CounterRandom& random) {
  const double log_aspect = -std::log(options.least_aspect);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double fraction = random.uniform(options.least_area, options.most_area);
    const double area = fraction * static_cast<double>(shape.height * shape.width);
    const double aspect = std::exp(random.uniform(-log_aspect, log_aspect));
    const int64_t height = std::llround(std::sqrt(area * aspect));
    const int64_t width = std::llround(std::sqrt(area / aspect));
    if (height > shape.height || width > shape.width) continue;
    const auto top = static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.height - height + 1)));
    const auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.width - width + 1)));
    return {top, left, height, width};
  }
  return {};
}

}  // namespace

void erase_rectangle(float* image, const ImageShape& shape, const ErasingOptions& options, CounterRandom random,
                     CounterRandom noise) {
  if (!random.chance(options.probability)) return;
  const io::ImageRegion erased = draw_erased(options, shape, random);
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t y = erased.top; y < erased.top + erased.height; ++y) {
      float* row = image + (c * shape.height + y) * shape.width + erased.left;
      if (options.mode == ErasingMode::pixel) {
        noise.normals(row, erased.width);
      } else {
        std::fill_n(row, erased.width, 0.0f);
      }
    }
  }
}

}  // namespace cachet::data
