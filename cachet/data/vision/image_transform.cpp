#include "cachet/data/vision/image_transform.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/data/vision/augmentation/color_jitter.h"
#include "cachet/data/vision/augmentation/crops.h"
#include "cachet/data/vision/augmentation/random_erasing.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/io/tensors/image.h"

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
    throw std::invalid_argument(
        "colour jitter and RandAugment need images with 1 or 3 channels; the number of channels is " +
        std::to_string(input.channels));
  }
}

void check_sizes(const ImageShape& input, const AugmentationOptions& augmentation, const ResizeOptions& resize) {
  const bool reflects = augmentation.crop == CropKind::padded && augmentation.crop_fill == CropFill::reflect;
  if (input.height == 0 && (augmentation.crop == CropKind::padded || !resize.image_size.given())) {
    throw std::invalid_argument(
        "if images have different sizes, image_size must be set, and crop must be \"resized\" or \"centre\"");
  }
  if (reflects && input.height > 0 && augmentation.crop_padding >= std::min(input.height, input.width)) {
    throw std::invalid_argument("crop_padding " + std::to_string(augmentation.crop_padding) +
                                " with reflection must be less than each side of the images, which are " +
                                std::to_string(input.height) + " × " + std::to_string(input.width));
  }
}

}  // namespace

ImageTransform::ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation,
                               ResizeOptions resize)
    : input_(input), augmentation_(augmentation), resize_(resize) {
  const auto channels = static_cast<size_t>(input.channels);
  if (normalization.mean.size() != channels || normalization.std.size() != channels) {
    throw std::invalid_argument("the normalisation has " + std::to_string(normalization.mean.size()) +
                                " channels, but the number of channels of the images is " + std::to_string(channels));
  }
  check_sizes(input, augmentation, resize);
  check_colours(input, augmentation);
  // Lanczos is a filter for resizing alone; in Pillow, too, images are not turned with it.
  affine_.interpolation =
      resize.interpolation == Interpolation::lanczos ? Interpolation::bicubic : resize.interpolation;
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
  if (!resize_.image_size.given()) return input_;
  return {input_.channels, resize_.image_size.height, resize_.image_size.width};
}

ImageShape ImageTransform::sample_shape() const {
  return augmentation_.crop == CropKind::padded ? input_ : output_shape();
}

ImageTransform::Cropped ImageTransform::padded_crop(const at::Tensor& image, CounterRandom& common) const {
  const int64_t padding = augmentation_.crop_padding;
  const auto draw_shift = [&] { return static_cast<int64_t>(common.below(static_cast<uint64_t>(2 * padding + 1))); };
  const int64_t down = draw_shift() - padding, right = draw_shift() - padding;
  const auto rows = source_positions(input_.height, down, augmentation_.crop_fill);
  const auto columns = source_positions(input_.width, right, augmentation_.crop_fill);
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
  ImageGeometry geometry = ImageGeometry::of({input_.height, input_.width});
  geometry.crop({down, right, input_.height, input_.width});
  return {pixels, geometry};
}

ImageTransform::Cropped ImageTransform::resized_crop(const ImageSource& images, int64_t index,
                                                     const SampleRandom& random) const {
  const ImageShape shape = output_shape();
  const io::ImageSize size{shape.height, shape.width};
  ImageGeometry geometry;
  const at::Tensor part = images.region(index, [&](const io::ImageSize& image) -> io::ImageRequest {
    const auto region = draw_resized_crop(augmentation_.resized_crop, image, random.stream(RandomStream::region));
    geometry = ImageGeometry::of(image);
    geometry.crop(region);
    return {region, size};
  });
  geometry.resize(size);
  return {resize_pixels(part, size, resize_.interpolation), geometry};
}

ImageTransform::Cropped ImageTransform::middle(const ImageSource& images, int64_t index) const {
  const ImageShape shape = output_shape();
  const TargetSize size{shape.height, shape.width};
  CentreCrop crop;
  ImageGeometry geometry;
  // At full size, so that published weights see what they were evaluated on.
  const at::Tensor part = images.region(index, [&](const io::ImageSize& image) -> io::ImageRequest {
    crop = centre_crop(image, size, resize_.crop_fraction);
    geometry = ImageGeometry::of(image);
    return {crop.region, {}};
  });
  geometry.crop(crop.region);
  geometry.resize(crop.resized);
  geometry.crop({crop.top, crop.left, size.height, size.width});
  const at::Tensor resized = resize_pixels(part, crop.resized, resize_.interpolation);
  return {resized.narrow(0, crop.top, size.height).narrow(1, crop.left, size.width).contiguous(), geometry};
}

ImageTransform::Cropped ImageTransform::cropped(const ImageSource& images, int64_t index, const SampleRandom& random,
                                                CounterRandom& common) const {
  switch (augmentation_.crop) {
    case CropKind::resized:
      return resized_crop(images, index, random);
    case CropKind::centre:
      return middle(images, index);
    case CropKind::padded:
      break;
  }
  const at::Tensor image = images.image(index);
  if (image.scalar_type() != at::kByte || image.numel() != input_.numel() || !image.is_contiguous()) {
    throw std::runtime_error(
        "the data set returned an image whose shape or type differs from the shape and type that the data set states");
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

ImageGeometry ImageTransform::apply(const ImageSource& images, int64_t index, const SampleRandom& random,
                                    float* out) const {
  // Every decision is drawn whether it is used or not: turning one option on does not change what the others do.
  CounterRandom common = random.stream(RandomStream::augmentation);
  const bool mirrored = common.chance(augmentation_.flip);
  auto [pixels, geometry] = cropped(images, index, random, common);
  if (mirrored) {
    mirror_pixels(pixels);
    geometry.mirror();
  }
  if (augmentation_.jitter.active()) {
    jitter_colours(pixels, augmentation_.jitter, random.stream(RandomStream::colour));
  }
  if (augmentation_.rand_augment.active()) {
    auto augmented = rand_augment(pixels, augmentation_.rand_augment, affine_, random.stream(RandomStream::policy));
    pixels = std::move(augmented.image);
    geometry.warp(augmented.map);
  }
  normalize(pixels, out);
  erase_rectangle(out, sample_shape(), augmentation_.erasing, common, random.stream(RandomStream::noise));
  const ImageShape shape = output_shape();
  geometry.resize({shape.height, shape.width});
  return geometry;
}

at::Tensor ImageTransform::of_file(const std::filesystem::path& file, io::OrientationRule orientation,
                                   ImageFileNotes* notes,
                                   const std::function<void(std::span<const std::byte> bytes)>& see_bytes) const {
  if (input_.channels != 1 && input_.channels != 3)
    throw std::invalid_argument("a file cannot be read as an image of " + std::to_string(input_.channels) +
                                " channels; the model must have images of 1 or 3 channels");
  io::ImageReadOptions options;
  options.channels = input_.channels == 1 ? io::ImageChannels::grey : io::ImageChannels::rgb;
  options.orientation = orientation;
  options.see_bytes = see_bytes;
  const io::DecodedImage image = io::read_image(file, options);
  if (notes != nullptr) notes->add(file, image, orientation);
  at::Tensor pixels = image.pixels;
  if (input_.height > 0) pixels = resize_pixels(pixels, {input_.height, input_.width}, resize_.interpolation);
  const ImageShape shape = sample_shape();
  at::Tensor input = at::empty({1, shape.channels, shape.height, shape.width}, at::kFloat);
  apply(StoredImages(pixels.permute({2, 0, 1}).unsqueeze(0)), 0, SampleRandom{}, input.mutable_data_ptr<float>());
  return resize(input);
}

at::Tensor thumbnail(const ImageSource& images, int64_t index, int64_t side) {
  io::ImageSize size;
  const at::Tensor pixels = images.region(index, [&](const io::ImageSize& image) -> io::ImageRequest {
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
  return resize_batch(batch, {shape.height, shape.width}, resize_.interpolation);
}

}  // namespace cachet::data
