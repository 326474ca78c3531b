#include "cachet/data/vision/augmentation/crops.h"

#include <algorithm>
#include <cmath>

namespace cachet::data {
namespace {

int64_t half_to_even(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

// The largest region in the middle whose aspect is within the bounds.
io::ImageRegion fallback_crop(const ResizedCropOptions& options, const io::ImageSize& image) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  const double aspect = width / height;
  io::ImageRegion region{0, 0, image.height, image.width};
  if (aspect < options.least_aspect) {
    region.height = std::clamp<int64_t>(half_to_even(width / options.least_aspect), 1, image.height);
  } else if (aspect > options.most_aspect) {
    region.width = std::clamp<int64_t>(half_to_even(height * options.most_aspect), 1, image.width);
  }
  region.top = (image.height - region.height) / 2;
  region.left = (image.width - region.width) / 2;
  return region;
}

}  // namespace

io::ImageRegion draw_resized_crop(const ResizedCropOptions& options, const io::ImageSize& image, CounterRandom random) {
  const auto area = static_cast<double>(image.height) * static_cast<double>(image.width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double wanted = area * random.uniform(options.least_area, options.most_area);
    const double aspect = std::exp(random.uniform(std::log(options.least_aspect), std::log(options.most_aspect)));
    const int64_t width = half_to_even(std::sqrt(wanted * aspect));
    const int64_t height = half_to_even(std::sqrt(wanted / aspect));
    if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
    const auto top = static_cast<int64_t>(random.below(static_cast<uint64_t>(image.height - height + 1)));
    const auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(image.width - width + 1)));
    return {top, left, height, width};
  }
  return fallback_crop(options, image);
}

CentreCrop centre_crop(const io::ImageSize& image, const TargetSize& crop, double fraction) {
  constexpr int64_t kMaxTimes = 4;
  CentreCrop result;
  const auto longest = [](int64_t other, int64_t wanted, int64_t other_wanted) {
    return std::max<int64_t>(1, kMaxTimes * other * wanted / other_wanted);
  };
  io::ImageRegion& region = result.region;
  region.height = std::min(image.height, longest(image.width, crop.height, crop.width));
  region.width = std::min(image.width, longest(image.height, crop.width, crop.height));
  region.top = (image.height - region.height) / 2;
  region.left = (image.width - region.width) / 2;
  // The smallest amount keeps 224 / 0.875 at 256 where the division falls short of it.
  const auto covered = [&](int64_t side) {
    return static_cast<int64_t>(std::floor(static_cast<double>(side) / fraction + 1e-9));
  };
  const int64_t height = covered(crop.height), width = covered(crop.width);
  result.resized.height = std::max(height, width * region.height / region.width);
  result.resized.width = std::max(width, height * region.width / region.height);
  result.top = half_to_even(static_cast<double>(result.resized.height - crop.height) / 2);
  result.left = half_to_even(static_cast<double>(result.resized.width - crop.width) / 2);
  return result;
}

}  // namespace cachet::data
