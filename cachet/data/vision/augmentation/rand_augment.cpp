#include "cachet/data/vision/augmentation/rand_augment.h"

#include <algorithm>
#include <utility>

#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::data {
namespace {

constexpr double kMaxMagnitude = 10;
constexpr double kMaxDegrees = 30, kMaxShear = 0.3, kMaxTranslation = 0.45;

// Blends: 1 ± 0.9 · strength where a larger magnitude is a stronger change; else from 0.1 to 1.9, 1 in the middle.
double blend_factor(double strength, bool opposite, bool increasing) {
  if (!increasing) return 0.1 + 1.8 * strength;
  return std::max(0.1, 1 + (opposite ? -0.9 : 0.9) * strength);
}

template <class Operation, class... Arguments>
at::Tensor changed(const at::Tensor& image, Operation operation, Arguments... arguments) {
  at::Tensor copy = image.clone();
  operation(copy, arguments...);
  return copy;
}

}  // namespace

std::optional<AffineMap> operation_map(RandAugmentOperation operation, double magnitude, bool opposite, int64_t height,
                                       int64_t width) {
  using enum RandAugmentOperation;
  const double strength = (opposite ? -magnitude : magnitude) / kMaxMagnitude;
  AffineMap map;
  switch (operation) {
    case rotate:
      return AffineMap::rotation(kMaxDegrees * strength, height, width);
    case shear_x:
      map.xy = kMaxShear * strength;
      return map;
    case shear_y:
      map.yx = kMaxShear * strength;
      return map;
    case translate_x:
      map.x0 = kMaxTranslation * strength * static_cast<double>(width);
      return map;
    case translate_y:
      map.y0 = kMaxTranslation * strength * static_cast<double>(height);
      return map;
    case autocontrast:
    case equalize:
    case invert:
    case posterize:
    case solarize:
    case solarize_add:
    case colour:
    case contrast:
    case brightness:
    case sharpness:
      break;
  }
  return std::nullopt;
}

at::Tensor apply_operation(const at::Tensor& image, RandAugmentOperation operation, double magnitude, bool opposite,
                           bool increasing, const AffineStyle& style) {
  using enum RandAugmentOperation;
  const double strength = magnitude / kMaxMagnitude;
  const double factor = blend_factor(strength, opposite, increasing);
  switch (operation) {
    case autocontrast:
      return changed(image, data::autocontrast);
    case equalize:
      return changed(image, data::equalize);
    case invert:
      return changed(image, data::invert);
    case posterize: {
      const int bits = static_cast<int>(strength * 4);
      return changed(image, data::posterize, increasing ? 4 - bits : bits);
    }
    case solarize: {
      const int threshold = std::min(256, static_cast<int>(strength * 256));
      return changed(image, data::solarize, increasing ? 256 - threshold : threshold);
    }
    case solarize_add:
      return changed(image, data::solarize_add, std::min(128, static_cast<int>(strength * 110)), 128);
    case colour:
      return changed(image, adjust_saturation, factor);
    case contrast:
      return changed(image, adjust_contrast, factor);
    case brightness:
      return changed(image, adjust_brightness, factor);
    case sharpness:
      return changed(image, adjust_sharpness, factor);
    case rotate:
    case shear_x:
    case shear_y:
    case translate_x:
    case translate_y:
      break;
  }
  const auto map = operation_map(operation, magnitude, opposite, image.size(0), image.size(1));
  return apply_affine(image, *map, style.interpolation, style.fill);
}

RandAugmented rand_augment(at::Tensor image, const RandAugmentOptions& options, const AffineStyle& style,
                           CounterRandom random) {
  RandAugmented result{std::move(image), {}};
  for (int64_t i = 0; i < options.operations; ++i) {
    // All is drawn whether it is used or not: one operation does not change what the next one draws.
    const auto operation = static_cast<RandAugmentOperation>(random.below(kRandAugmentOperations));
    const bool applied = random.chance(options.probability);
    const double magnitude = std::clamp(options.magnitude + options.deviation * random.normal(), 0.0, kMaxMagnitude);
    const bool opposite = random.chance(0.5);
    if (!applied) continue;
    at::Tensor& pixels = result.image;
    if (const auto map = operation_map(operation, magnitude, opposite, pixels.size(0), pixels.size(1)))
      result.map = result.map.after(*map);
    pixels = apply_operation(pixels, operation, magnitude, opposite, options.increasing, style);
  }
  return result;
}

}  // namespace cachet::data
