#include "cachet/data/vision/augmentation/augmentation_options.h"

#include <array>
#include <string_view>
#include <vector>

namespace cachet::data {
namespace {

// Two numbers, the smaller first.
void read_bounds(const config::View& view, std::string_view key, config::Range<double> range, double& least,
                 double& most) {
  const std::vector<double> bounds = view.reals(key, {least, most}, range);
  if (bounds.size() != 2 || bounds[0] > bounds[1]) {
    view.problem(key, "must be two numbers, with the smaller number first");
    return;
  }
  least = bounds[0];
  most = bounds[1];
}

ErasingOptions read_erasing_options(const config::View& view) {
  static constexpr std::array<config::Choice<ErasingMode>, 2> kModes{{
      {"constant", ErasingMode::constant},
      {"pixel", ErasingMode::pixel},
  }};
  ErasingOptions options;
  options.probability = view.real("erasing", options.probability, {0, 1});
  options.mode = view.choice("erasing_mode", options.mode, kModes);
  options.least_area = view.real("erasing_least_area", options.least_area, {0, 1});
  options.most_area = view.real("erasing_most_area", options.most_area, {0, 1});
  options.least_aspect = view.real("erasing_least_aspect", options.least_aspect, {0, 1, /*least_excluded=*/true});
  if (options.least_area > options.most_area) view.problem("erasing_least_area", "must not be above erasing_most_area");
  return options;
}

RandAugmentOptions read_rand_augment_options(const config::View& view) {
  RandAugmentOptions options;
  options.operations = view.integer("operations", options.operations, {0, 15});
  options.magnitude = view.real("magnitude", options.magnitude, {0, 10});
  options.deviation = view.real("deviation", options.deviation, {0, 10});
  options.probability = view.real("probability", options.probability, {0, 1});
  options.increasing = view.boolean("increasing", options.increasing);
  return options;
}

}  // namespace

AugmentationOptions read_augmentation_options(const config::View& view, bool own_sizes) {
  static constexpr std::array<config::Choice<CropKind>, 3> kCrops{{
      {"padded", CropKind::padded},
      {"resized", CropKind::resized},
      {"centre", CropKind::centre},
  }};
  static constexpr std::array<config::Choice<CropFill>, 2> kFills{{
      {"zero", CropFill::zero},
      {"reflect", CropFill::reflect},
  }};
  AugmentationOptions options;
  options.flip = view.real("flip", options.flip, {0, 1});
  options.crop = view.choice("crop", own_sizes ? CropKind::resized : options.crop, kCrops);
  if (options.crop == CropKind::padded) {
    options.crop_padding = view.integer("crop_padding", options.crop_padding, {0, 1024});
    options.crop_fill = view.choice("crop_fill", options.crop_fill, kFills);
    if (own_sizes)
      view.problem("crop", "\"padded\" needs images that all have the same size; use \"resized\" or \"centre\"");
  }
  if (options.crop == CropKind::resized) {
    auto& crop = options.resized_crop;
    read_bounds(view, "crop_area", {0, 1, /*least_excluded=*/true}, crop.least_area, crop.most_area);
    read_bounds(view, "crop_aspect", {0.01, 100}, crop.least_aspect, crop.most_aspect);
  }
  options.jitter.brightness = view.real("brightness", options.jitter.brightness, {0, 10});
  options.jitter.contrast = view.real("contrast", options.jitter.contrast, {0, 10});
  options.jitter.saturation = view.real("saturation", options.jitter.saturation, {0, 10});
  options.jitter.hue = view.real("hue", options.jitter.hue, {0, 0.5});
  options.rand_augment = read_rand_augment_options(view.table("rand_augment"));
  options.erasing = read_erasing_options(view);
  return options;
}

ResizeOptions read_resize_options(const config::View& view, ResizeOptions options) {
  const TargetSize& usual = options.image_size;
  const auto [height, width] =
      view.integer_pair("image_size", {usual.height, usual.width}, {usual.given() ? 1 : 0, 4096});
  if ((height == 0) != (width == 0)) view.problem("image_size", "must be 0 for both sides, or above 0 for both sides");
  options.image_size = {height, width};
  options.interpolation = view.choice("interpolation", options.interpolation, kInterpolations);
  options.crop_fraction = view.real("crop_fraction", options.crop_fraction, {.least = 0.1, .most = 1});
  return options;
}

}  // namespace cachet::data
