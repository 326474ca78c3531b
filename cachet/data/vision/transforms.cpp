#include "cachet/data/vision/transforms.h"

#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace cachet::data {
namespace {

// Which source position each output position shows: shifted, perhaps mirrored, −1 where it lies in the padding.
std::vector<int32_t> source_positions(int64_t length, int64_t shift, CropFill fill, bool mirrored) {
  std::vector<int32_t> positions(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    int64_t source = i + shift;
    if (source < 0 || source >= length) {
      source = fill == CropFill::zero ? -1 : source < 0 ? -source : 2 * (length - 1) - source;
    }
    positions[static_cast<size_t>(mirrored ? length - 1 - i : i)] = static_cast<int32_t>(source);
  }
  return positions;
}

struct Rectangle {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

// A rectangle of a share of the area, of aspect 0.3 to 1/0.3, that fits; none after ten tries.
Rectangle draw_rectangle(const AugmentationOptions& options, const ImageShape& shape, CounterRandom& random) {
  constexpr double kLogAspect = 1.2039728043259361;  // −log 0.3
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double share = random.uniform(options.erasing_least_area, options.erasing_most_area);
    const double area = share * static_cast<double>(shape.height * shape.width);
    const double aspect = std::exp(random.uniform(-kLogAspect, kLogAspect));
    const int64_t height = std::llround(std::sqrt(area * aspect));
    const int64_t width = std::llround(std::sqrt(area / aspect));
    if (height > shape.height || width > shape.width) continue;
    const auto top = static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.height - height + 1)));
    const auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.width - width + 1)));
    return {top, left, height, width};
  }
  return {};
}

void erase(const Rectangle& rectangle, const ImageShape& shape, float* image) {
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t y = rectangle.top; y < rectangle.top + rectangle.height; ++y) {
      std::fill_n(image + (c * shape.height + y) * shape.width + rectangle.left, rectangle.width, 0.0f);
    }
  }
}

}  // namespace

AugmentationOptions read_augmentation_options(const config::View& view) {
  static constexpr std::array<config::Choice<CropFill>, 2> kFills{{
      {"zero", CropFill::zero},
      {"reflect", CropFill::reflect},
  }};
  AugmentationOptions options;
  options.flip = view.real("flip", options.flip, {0, 1});
  options.crop_padding = view.integer("crop_padding", options.crop_padding, {0, 1024});
  options.crop_fill = view.choice("crop_fill", options.crop_fill, kFills);
  options.erasing = view.real("erasing", options.erasing, {0, 1});
  options.erasing_least_area = view.real("erasing_least_area", options.erasing_least_area, {0, 1});
  options.erasing_most_area = view.real("erasing_most_area", options.erasing_most_area, {0, 1});
  if (options.erasing_least_area > options.erasing_most_area) {
    view.problem("erasing_least_area", "is above erasing_most_area");
  }
  return options;
}

ResizeOptions read_resize_options(const config::View& view) {
  static constexpr std::array<config::Choice<Interpolation>, 2> kInterpolations{{
      {"bilinear", Interpolation::bilinear},
      {"bicubic", Interpolation::bicubic},
  }};
  ResizeOptions options;
  options.image_size = view.integer("image_size", options.image_size, {0, 4096});
  options.interpolation = view.choice("interpolation", options.interpolation, kInterpolations);
  return options;
}

ImageTransform::ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation,
                               ResizeOptions resize)
    : input_(input), augmentation_(augmentation), resize_(resize) {
  const auto channels = static_cast<size_t>(input.channels);
  if (normalization.mean.size() != channels || normalization.std.size() != channels) {
    throw std::invalid_argument("the normalisation has " + std::to_string(normalization.mean.size()) +
                                " channels and the images " + std::to_string(channels));
  }
  if (augmentation.crop_fill == CropFill::reflect && augmentation.crop_padding >= std::min(input.height, input.width)) {
    throw std::invalid_argument("crop_padding " + std::to_string(augmentation.crop_padding) +
                                " with reflection needs images larger than that; these are " +
                                std::to_string(input.height) + " × " + std::to_string(input.width));
  }
  for (size_t c = 0; c < channels; ++c) {
    scale_.push_back(static_cast<float>(1 / (255 * normalization.std[c])));
    shift_.push_back(static_cast<float>(-normalization.mean[c] / normalization.std[c]));
  }
}

ImageShape ImageTransform::output_shape() const {
  if (resize_.image_size == 0) return input_;
  return {input_.channels, resize_.image_size, resize_.image_size};
}

void ImageTransform::apply(const uint8_t* image, CounterRandom random, float* out) const {
  // Every decision is drawn whether it is used or not: turning one option on does not change what the others do.
  const bool mirrored = random.chance(augmentation_.flip);
  const int64_t padding = augmentation_.crop_padding;
  const auto draw_shift = [&] { return static_cast<int64_t>(random.below(static_cast<uint64_t>(2 * padding + 1))); };
  const auto rows = source_positions(input_.height, draw_shift() - padding, augmentation_.crop_fill, false);
  const auto columns = source_positions(input_.width, draw_shift() - padding, augmentation_.crop_fill, mirrored);
  float* place = out;
  for (int64_t c = 0; c < input_.channels; ++c) {
    const float scale = scale_[static_cast<size_t>(c)];
    const float black = shift_[static_cast<size_t>(c)];
    for (const int32_t row : rows) {
      if (row < 0) {
        place = std::fill_n(place, input_.width, black);
        continue;
      }
      const uint8_t* source = image + (c * input_.height + row) * input_.width;
      for (const int32_t column : columns) {
        *place++ = column < 0 ? black : static_cast<float>(source[column]) * scale + black;
      }
    }
  }
  if (random.chance(augmentation_.erasing)) erase(draw_rectangle(augmentation_, input_, random), input_, out);
}

at::Tensor ImageTransform::resize(const at::Tensor& batch) const {
  if (output_shape() == input_) return batch;
  const std::vector<int64_t> size{resize_.image_size, resize_.image_size};
  if (resize_.interpolation == Interpolation::bilinear) return at::_upsample_bilinear2d_aa(batch, size, false);
  return at::_upsample_bicubic2d_aa(batch, size, false);
}

}  // namespace cachet::data
