#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/data/vision/augmentation/rand_augment.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_source.h"
#include "cachet/data/vision/pixels/image_geometry.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"

namespace cachet::data {

/// Turns uint8 images into the float32 input of a model. What is drawn for a sample is a function of its SampleRandom.
class ImageTransform {
 public:
  /// `input` is the data set's shape: height and width 0 where each image has its own. Throws std::invalid_argument
  /// when an option cannot apply to it (reflection wider than the image, no size to resize to, colours of two
  /// channels).
  ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation = {},
                 ResizeOptions resize = {});

  /// How evaluation shows images: the middle, or the whole image where images have one size and crop_fraction is 1.
  static ImageTransform for_evaluation(ImageShape input, Normalization normalization, ResizeOptions resize);

  ImageShape input_shape() const { return input_; }
  bool takes_middle() const { return augmentation_.crop == CropKind::centre; }
  ImageShape output_shape() const;  // of a batch

  /// What apply() writes: output_shape(), but for padded crops, which are resized as a batch.
  ImageShape sample_shape() const;

  /// Augments and normalises one image to `out`, sample_shape().numel() values. Thread-safe. Returns what was done to
  /// its geometry, up to output_shape(): where `out` has another shape, that is once it is resized.
  ImageGeometry apply(const ImageSource& images, int64_t index, const SampleRandom& random, float* out) const;

  /// Resizes a batch (B, C, H, W) to output_shape(); returns it as it is when it has that.
  at::Tensor resize(const at::Tensor& batch) const;

  /// A JPEG or PNG file as a sample of the data set would be shown: (1, C, H, W) of output_shape(). Made grey or RGB as
  /// the data are. Where these have one size, the file is first resized to it as a whole, with the interpolation of the
  /// transform, since what the model has learned to see are images of that size; the same image in the data set and in
  /// a file gives the same bits. Meant for transforms of evaluation, which draw nothing. Throws io::Error that names
  /// the file, std::invalid_argument for data of neither 1 nor 3 channels.
  /// `see_bytes` gets the bytes of the file.
  at::Tensor of_file(const std::filesystem::path& file, io::OrientationRule orientation = io::OrientationRule::ignore,
                     ImageFileNotes* notes = nullptr,
                     const std::function<void(std::span<const std::byte> bytes)>& see_bytes = {}) const;

 private:
  // Pixels (h, w, C) uint8, and how they came about.
  struct Cropped {
    at::Tensor pixels;
    ImageGeometry geometry;
  };
  Cropped cropped(const ImageSource& images, int64_t index, const SampleRandom& random, CounterRandom& common) const;
  Cropped padded_crop(const at::Tensor& image, CounterRandom& common) const;
  Cropped resized_crop(const ImageSource& images, int64_t index, const SampleRandom& random) const;
  Cropped middle(const ImageSource& images, int64_t index) const;
  void normalize(const at::Tensor& pixels, float* out) const;

  ImageShape input_;
  AugmentationOptions augmentation_;
  ResizeOptions resize_;
  std::vector<float> scale_, shift_;  // a channel's x · scale + shift
  AffineStyle affine_;                // filled with the mean colour
};

/// An image for people, (h, w, C) uint8: the whole of it, its longer side at most `side`.
at::Tensor thumbnail(const ImageSource& images, int64_t index, int64_t side);

}  // namespace cachet::data
