#include "cachet/data/vision/transforms.h"

#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/data/vision/color_jitter.h"
#include "cachet/data/vision/crops.h"
#include "cachet/data/vision/pixel_operations.h"
#include "cachet/data/vision/random_erasing.h"

namespace cachet::data {
namespace {

// Which source position each output position shows: shifted, −1 where it lies in the padding.
std::vector<int64_t> source_positions(int64_t length, int64_t shift, CropFill fill) {
  std::vector<int64_t> positions(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    int64_t source = i + shift;
    if (source < 0 || source >= length) {
      source = fill == CropFill::zero ? -1 : source < 0 ? -source : 2 * (length - 1) - source;
    }
    positions[static_cast<size_t>(i)] = source;
  }
  return positions;
}

void check_colours(const ImageShape& input, const AugmentationOptions& augmentation) {
  const bool changes_colours = augmentation.jitter.active() || augmentation.rand_augment.active();
  if (changes_colours && input.channels != 1 && input.channels != 3) {
    throw std::invalid_argument("colour jitter and RandAugment are for images of 1 or 3 channels; these have " +
                                std::to_string(input.channels));
  }
}

void check_sizes(const ImageShape& input, const AugmentationOptions& augmentation, const ResizeOptions& resize) {
  const bool reflects = augmentation.crop == CropKind::padded && augmentation.crop_fill == CropFill::reflect;
  if (input.height == 0 && (augmentation.crop == CropKind::padded || resize.image_size == 0)) {
    throw std::invalid_argument("images of their own sizes need an image_size and a resized or centre crop");
  }
  if (reflects && input.height > 0 && augmentation.crop_padding >= std::min(input.height, input.width)) {
    throw std::invalid_argument("crop_padding " + std::to_string(augmentation.crop_padding) +
                                " with reflection needs images larger than that; these are " +
                                std::to_string(input.height) + " × " + std::to_string(input.width));
  }
  if (augmentation.crop == CropKind::centre && resize.image_size == 0 && input.height != input.width) {
    throw std::invalid_argument("a centre crop of images that are not square needs an image_size");
  }
}

}  // namespace

ImageTransform::ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation,
                               ResizeOptions resize)
    : input_(input), augmentation_(augmentation), resize_(resize) {
  const auto channels = static_cast<size_t>(input.channels);
  if (normalization.mean.size() != channels || normalization.std.size() != channels) {
    throw std::invalid_argument("the normalisation has " + std::to_string(normalization.mean.size()) +
                                " channels and the images " + std::to_string(channels));
  }
  check_sizes(input, augmentation, resize);
  check_colours(input, augmentation);
  affine_.interpolation = resize.interpolation;
  for (size_t c = 0; c < channels; ++c) {
    scale_.push_back(static_cast<float>(1 / (255 * normalization.std[c])));
    shift_.push_back(static_cast<float>(-normalization.mean[c] / normalization.std[c]));
    if (c < affine_.fill.size()) {
      affine_.fill[c] = static_cast<uint8_t>(std::clamp(std::nearbyint(255 * normalization.mean[c]), 0.0, 255.0));
    }
  }
}

ImageTransform ImageTransform::for_evaluation(ImageShape input, Normalization normalization, ResizeOptions resize) {
  AugmentationOptions none;
  if (input.height == 0 || resize.crop_fraction < 1) none.crop = CropKind::centre;
  return {input, std::move(normalization), none, resize};
}

ImageShape ImageTransform::output_shape() const {
  if (resize_.image_size == 0) return input_;
  return {input_.channels, resize_.image_size, resize_.image_size};
}

ImageShape ImageTransform::sample_shape() const {
  return augmentation_.crop == CropKind::padded ? input_ : output_shape();
}

at::Tensor ImageTransform::padded_crop(const at::Tensor& image, CounterRandom& common) const {
  const int64_t padding = augmentation_.crop_padding;
  const auto draw_shift = [&] { return static_cast<int64_t>(common.below(static_cast<uint64_t>(2 * padding + 1))); };
  const auto rows = source_positions(input_.height, draw_shift() - padding, augmentation_.crop_fill);
  const auto columns = source_positions(input_.width, draw_shift() - padding, augmentation_.crop_fill);
  at::Tensor pixels = at::empty({input_.height, input_.width, input_.channels}, at::kByte);
  const auto* in = image.const_data_ptr<uint8_t>();
  const int64_t area = input_.height * input_.width;
  auto* out = pixels.mutable_data_ptr<uint8_t>();
  for (const int64_t row : rows) {
    for (const int64_t column : columns) {
      const bool outside = row < 0 || column < 0;
      for (int64_t c = 0; c < input_.channels; ++c) {
        *out++ = outside ? 0 : in[c * area + row * input_.width + column];
      }
    }
  }
  return pixels;
}

at::Tensor ImageTransform::resized_crop(const ImageDataset& dataset, int64_t index, const SampleRandom& random) const {
  const ImageShape shape = output_shape();
  const io::ImageSize size{shape.height, shape.width};
  const at::Tensor part = dataset.region(index, [&](const io::ImageSize& image) -> io::ImageRequest {
    return {draw_resized_crop(augmentation_.resized_crop, image, random.stream(RandomStream::region)), size};
  });
  return resize_pixels(part, size, resize_.interpolation);
}

at::Tensor ImageTransform::middle(const ImageDataset& dataset, int64_t index) const {
  const int64_t side = output_shape().height;
  CentreCrop crop;
  // At full size, so that published weights see what they were evaluated on.
  const at::Tensor part = dataset.region(index, [&](const io::ImageSize& image) -> io::ImageRequest {
    crop = centre_crop(image, side, resize_.crop_fraction);
    return {crop.region, {}};
  });
  return resize_pixels(part, crop.resized, resize_.interpolation)
      .narrow(0, crop.top, side)
      .narrow(1, crop.left, side)
      .contiguous();
}

at::Tensor ImageTransform::cropped(const ImageDataset& dataset, int64_t index, const SampleRandom& random,
                                   CounterRandom& common) const {
  switch (augmentation_.crop) {
    case CropKind::resized:
      return resized_crop(dataset, index, random);
    case CropKind::centre:
      return middle(dataset, index);
    case CropKind::padded:
      break;
  }
  const at::Tensor image = dataset.image(index);
  if (image.scalar_type() != at::kByte || image.numel() != input_.numel() || !image.is_contiguous()) {
    throw std::runtime_error("the data set gave an image of another shape or type than it states");
  }
  return padded_crop(image, common);
}

void ImageTransform::normalize(const at::Tensor& pixels, float* out) const {
  const int64_t channels = pixels.size(2), area = pixels.size(0) * pixels.size(1);
  const auto* in = pixels.const_data_ptr<uint8_t>();
  for (int64_t c = 0; c < channels; ++c) {
    const float scale = scale_[static_cast<size_t>(c)], shift = shift_[static_cast<size_t>(c)];
    for (int64_t i = 0; i < area; ++i) *out++ = static_cast<float>(in[i * channels + c]) * scale + shift;
  }
}

void ImageTransform::apply(const ImageDataset& dataset, int64_t index, const SampleRandom& random, float* out) const {
  // Every decision is drawn whether it is used or not: turning one option on does not change what the others do.
  CounterRandom common = random.stream(RandomStream::augmentation);
  const bool mirrored = common.chance(augmentation_.flip);
  at::Tensor pixels = cropped(dataset, index, random, common);
  if (mirrored) mirror_pixels(pixels);
  if (augmentation_.jitter.active()) {
    jitter_colours(pixels, augmentation_.jitter, random.stream(RandomStream::colour));
  }
  if (augmentation_.rand_augment.active()) {
    pixels = rand_augment(pixels, augmentation_.rand_augment, affine_, random.stream(RandomStream::policy));
  }
  normalize(pixels, out);
  erase_rectangle(out, sample_shape(), augmentation_.erasing, common, random.stream(RandomStream::noise));
}

at::Tensor thumbnail(const ImageDataset& dataset, int64_t index, int64_t side) {
  io::ImageSize size;
  const at::Tensor pixels = dataset.region(index, [&](const io::ImageSize& image) -> io::ImageRequest {
    const int64_t longer = std::max({image.height, image.width, side});
    size = {std::max<int64_t>(1, image.height * side / longer), std::max<int64_t>(1, image.width * side / longer)};
    if (longer == side) size = image;
    return {io::ImageRegion::whole(image), size};
  });
  return resize_pixels(pixels, size, Interpolation::bicubic);
}

at::Tensor ImageTransform::resize(const at::Tensor& batch) const {
  const ImageShape shape = output_shape();
  if (batch.size(2) == shape.height && batch.size(3) == shape.width) return batch;
  if (batch.size(0) == 0) return at::empty({0, shape.channels, shape.height, shape.width}, batch.options());
  const std::vector<int64_t> size{shape.height, shape.width};
  if (resize_.interpolation == Interpolation::bilinear) return at::_upsample_bilinear2d_aa(batch, size, false);
  return at::_upsample_bicubic2d_aa(batch, size, false);
}

}  // namespace cachet::data
