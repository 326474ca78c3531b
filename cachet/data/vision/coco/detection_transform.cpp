#include "cachet/data/vision/coco/detection_transform.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/config/counted_list.h"
#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/geometry/mask_transforms.h"

namespace cachet::data {
namespace {

using geometry::Box;
using geometry::Size;

enum class Scales { single, multi };
constexpr std::array<config::Choice<Scales>, 2> kScales{{{"single", Scales::single}, {"multi", Scales::multi}}};

std::vector<ScaleLimit> limits_of(int64_t longer, const std::vector<int64_t>& shorter) {
  std::vector<ScaleLimit> limits;
  for (const int64_t side : shorter) limits.push_back({std::max(longer, side), std::min(longer, side)});
  return limits;
}

template <class Limit>
const Limit& chosen(const std::vector<Limit>& limits, CounterRandom& random) {
  return limits[random.below(limits.size())];
}

// A whole number from least to most, both possible, for a number in [0, 1).
int64_t between(int64_t least, int64_t most, double number) {
  return std::min(most, least + static_cast<int64_t>(number * static_cast<double>(most - least + 1)));
}

void check_options(const DetectionTransformOptions& options) {
  const auto good = [](const std::vector<ScaleLimit>& limits) {
    return std::all_of(limits.begin(), limits.end(),
                       [](const ScaleLimit& limit) { return limit.shorter >= 1 && limit.longer >= limit.shorter; });
  };
  if (options.scales.empty() || !good(options.scales) || !good(options.crop_scales))
    throw std::invalid_argument(
        "a detector needs at least one scale, and the longer side of each scale must not be below its shorter side");
  if (options.crop_share > 0 && options.crop_scales.empty())
    throw std::invalid_argument("to crop images, crop_short_sides must have at least one scale");
  if (options.least_crop < 1 || options.most_crop < options.least_crop || options.multiple < 1)
    throw std::invalid_argument(
        "the minimum side of a crop and the padding multiple must be at least 1, and the minimum side of a crop must "
        "not be above the maximum side");
}

}  // namespace

Size size_within(const Size& image, const ScaleLimit& limit) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  const double factor = std::min(static_cast<double>(limit.longer) / std::max(height, width),
                                 static_cast<double>(limit.shorter) / std::min(height, width));
  const auto side = [&](double old) { return std::max<int64_t>(1, static_cast<int64_t>(old * factor + .5)); };
  return {side(height), side(width)};
}

DetectionTransformOptions DetectionTransformOptions::multi_scale() {
  DetectionTransformOptions options;
  options.scales = limits_of(1333, {480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800});
  options.mirror_first = true;
  options.crop_share = 0.5;
  options.crop_scales = limits_of(1333, {400, 500, 600});
  return options;
}

DetectionTransformOptions DetectionTransformOptions::for_evaluation() const {
  DetectionTransformOptions options;
  options.scales = {*std::max_element(scales.begin(), scales.end(), [](const ScaleLimit& a, const ScaleLimit& b) {
    return std::pair(a.shorter, a.longer) < std::pair(b.shorter, b.longer);
  })};
  options.mirror = 0;
  options.multiple = multiple;
  return options;
}

DetectionTransformOptions read_detection_transform(const config::View& view) {
  DetectionTransformOptions options;
  constexpr int64_t kMaxSide = 10000;
  constexpr size_t kMaxScales = 1000;
  if (view.choice("scales", Scales::single, kScales) == Scales::multi)
    options = DetectionTransformOptions::multi_scale();
  const auto sides_of = [](const std::vector<ScaleLimit>& limits) {
    std::vector<int64_t> sides;
    for (const ScaleLimit& limit : limits) sides.push_back(limit.shorter);
    return sides;
  };
  const int64_t longer = view.integer("long_side", 1333, {1, kMaxSide});
  const auto read_sides = [&](std::string_view key, const std::vector<ScaleLimit>& usual, config::Count count) {
    return limits_of(longer, config::counted_integers(view, key, sides_of(usual), count, {1, kMaxSide}));
  };
  options.scales = read_sides("short_sides", options.scales, {1, kMaxScales});
  options.crop_scales = read_sides("crop_short_sides", options.crop_scales, {0, kMaxScales});
  options.mirror = view.real("mirror", options.mirror, {0, 1});
  options.crop_share = view.real("crop_share", options.crop_share, {0, 1});
  const auto [least, most] = view.integer_pair("crop_sides", {options.least_crop, options.most_crop}, {1, kMaxSide});
  if (least > most)
    view.problem("crop_sides", "must be the smallest and the largest side of a crop, such as [384, 600]");
  options.least_crop = least;
  options.most_crop = std::max(least, most);
  if (options.crop_share > 0 && options.crop_scales.empty())
    view.problem("crop_share", "has no effect without crop_short_sides; set crop_short_sides, or remove crop_share");
  options.multiple = view.integer("pad_multiple", options.multiple, {1, 1024});
  return options;
}

DetectionObjects cropped(const DetectionObjects& objects, const Size& window, int64_t top, int64_t left) {
  DetectionObjects result;
  const auto moved = [&](const Box& box) {
    return clipped(shifted(box, -static_cast<double>(left), -static_cast<double>(top)), window);
  };
  for (size_t i = 0; i < objects.size(); ++i) {
    const Box box = moved(objects.boxes[i]);
    if (box.empty()) continue;
    result.boxes.push_back(box);
    result.labels.push_back(objects.labels[i]);
    if (!objects.masks.empty()) result.masks.push_back(windowed(objects.masks[i], top, left, window));
  }
  for (const Box& crowd : objects.crowds) {
    if (const Box box = moved(crowd); !box.empty()) result.crowds.push_back(box);
  }
  return result;
}

DetectionObjects resized(const DetectionObjects& objects, const Size& from, const Size& to) {
  DetectionObjects result = objects;
  const double horizontal = static_cast<double>(to.width) / static_cast<double>(from.width);
  const double vertical = static_cast<double>(to.height) / static_cast<double>(from.height);
  for (auto* boxes : {&result.boxes, &result.crowds}) {
    for (Box& box : *boxes) box = clipped(scaled(box, horizontal, vertical), to);
  }
  for (geometry::RunLengths& mask : result.masks) mask = resized(mask, to);
  return result;
}

DetectionObjects mirrored(const DetectionObjects& objects, const Size& image) {
  DetectionObjects result = objects;
  for (auto* boxes : {&result.boxes, &result.crowds}) {
    for (Box& box : *boxes) box = mirrored(box, static_cast<double>(image.width));
  }
  for (geometry::RunLengths& mask : result.masks) mask = mirrored(mask);
  return result;
}

at::Tensor resized_bilinear(const at::Tensor& pixels, const Size& size) {
  if (pixels.size(0) == size.height && pixels.size(1) == size.width) return pixels;
  const at::Tensor batch = pixels.permute({2, 0, 1}).unsqueeze(0);  // (1, C, H, W), channels last
  const std::vector<int64_t> sides{size.height, size.width};
  return at::upsample_bilinear2d(batch, sides, /*align_corners=*/false)[0].permute({1, 2, 0}).contiguous();
}

DetectionTransform::DetectionTransform(DetectionTransformOptions options, Normalization normalization)
    : options_(std::move(options)) {
  check_options(options_);
  if (normalization.mean.size() != 3 || normalization.std.size() != 3)
    throw std::invalid_argument(
        "the mean and std of a detector must have three values, because its images have three channels");
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t level = 0; level < 256; ++level)
      levels_[channel][level] = static_cast<float>((static_cast<double>(level) / 255 - normalization.mean[channel]) /
                                                   normalization.std[channel]);
  }
}

DetectionDraws DetectionTransform::draw(const SampleRandom& random) const {
  DetectionDraws draws;
  CounterRandom augmentation = random.stream(RandomStream::augmentation);
  draws.mirrored = augmentation.chance(options_.mirror);
  draws.cropped = augmentation.chance(options_.crop_share);
  draws.scale = chosen(options_.scales, augmentation);
  if (!draws.cropped) return draws;
  CounterRandom region = random.stream(RandomStream::region);
  draws.crop_scale = chosen(options_.crop_scales, region);
  for (double& number : draws.crop) number = region.uniform();
  return draws;
}

DetectionSample DetectionTransform::apply(at::Tensor pixels, DetectionObjects objects,
                                          const DetectionDraws& draws) const {
  DetectionSample sample;
  Size size{pixels.size(0), pixels.size(1)};
  sample.original = size;
  const auto mirror = [&] {
    mirror_pixels(pixels);
    objects = mirrored(objects, size);
  };
  const auto resize = [&](const ScaleLimit& limit) {
    const Size to = size_within(size, limit);
    sample.scale = {static_cast<double>(to.width) / static_cast<double>(size.width),
                    static_cast<double>(to.height) / static_cast<double>(size.height)};
    pixels = resized_bilinear(pixels, to);
    objects = resized(objects, size, to);
    size = to;
  };
  sample.mirrored = draws.mirrored;
  if (draws.mirrored && options_.mirror_first) mirror();
  if (draws.cropped) {
    resize(draws.crop_scale);
    const auto side_of = [&](int64_t side, double number) {
      return between(std::min(side, options_.least_crop), std::min(side, options_.most_crop), number);
    };
    const Size window{side_of(size.height, draws.crop[0]), side_of(size.width, draws.crop[1])};
    const int64_t top = between(0, size.height - window.height, draws.crop[2]);
    const int64_t left = between(0, size.width - window.width, draws.crop[3]);
    pixels = pixels.narrow(0, top, window.height).narrow(1, left, window.width).contiguous();
    objects = cropped(objects, window, top, left);
    size = window;
  }
  resize(draws.scale);
  if (draws.mirrored && !options_.mirror_first) mirror();
  sample.resized = size;
  sample.pixels = normalized(pixels);
  sample.objects = std::move(objects);
  return sample;
}

at::Tensor DetectionTransform::normalized(const at::Tensor& pixels) const {
  const int64_t count = pixels.size(0) * pixels.size(1);
  at::Tensor result = at::empty({3, pixels.size(0), pixels.size(1)}, at::kFloat);
  const auto* from = pixels.const_data_ptr<uint8_t>();
  auto* to = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t channel = 0; channel < 3; ++channel)
      to[channel * count + i] = levels_[static_cast<size_t>(channel)][from[3 * i + channel]];
  }
  return result;
}

}  // namespace cachet::data
