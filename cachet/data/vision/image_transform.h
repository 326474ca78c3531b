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

/// Converts uint8 images to a model's float32 input. The random choices for a sample are a function of its
/// SampleRandom.
class ImageTransform {
 public:
  /// `input` is the data set's image shape; height and width are 0 if each image has its own size. Throws
  /// std::invalid_argument if an option cannot apply to images of the shape `input`: a reflection wider than the image,
  /// no size to resize to, or colour changes for two channels.
  ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation = {},
                 ResizeOptions resize = {});

  /// Returns the transform for evaluation, which crops the middle of an image. If all images have one size and
  /// crop_fraction is 1, the transform uses the whole image.
  static ImageTransform for_evaluation(ImageShape input, Normalization normalization, ResizeOptions resize);

  ImageShape input_shape() const { return input_; }
  bool takes_middle() const { return augmentation_.crop == CropKind::centre; }
  ImageShape output_shape() const;  // shape of the images of a batch

  /// Returns the shape of the images that apply() writes. With padded crops, sample_shape() equals input_shape(),
  /// because images are resized later, as a batch. Without padded crops, sample_shape() equals output_shape().
  ImageShape sample_shape() const;

  /// Augments and normalises one image. Writes sample_shape().numel() values to `out`. Thread-safe. Returns all
  /// geometric changes of the image, from its original shape to output_shape(). Thus, if sample_shape() differs from
  /// output_shape(), the changes include the later resizing of the batch.
  ImageGeometry apply(const ImageSource& images, int64_t index, const SampleRandom& random, float* out) const;

  /// Resizes a batch (B, C, H, W) to output_shape(). A batch that already has the output shape is returned unchanged.
  at::Tensor resize(const at::Tensor& batch) const;

  /// Reads a JPEG or PNG file, and transforms it like a sample of the data set, in grey or RGB like the data. Returns
  /// (1, C, H, W), with (C, H, W) = output_shape(). If all images of the data set have one size, the whole file is
  /// first resized to that size (with the interpolation of the transform), because the model has learned from images of
  /// that size. For a file of the data set, the result equals the data set's sample, bit for bit. Only for evaluation
  /// transforms, which use no random numbers. Calls `see_bytes` with the bytes of the file. Throws io::Error, which
  /// names the file, if it cannot be read, and std::invalid_argument unless the data have 1 or 3 channels.
  at::Tensor of_file(const std::filesystem::path& file, io::OrientationRule orientation = io::OrientationRule::ignore,
                     ImageFileNotes* notes = nullptr,
                     const std::function<void(std::span<const std::byte> bytes)>& see_bytes = {}) const;

 private:
  // The pixels (h, w, C) uint8 of a crop, and their geometry.
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
  std::vector<float> scale_, shift_;  // factor and offset of each channel: x · scale + shift
  AffineStyle affine_;                // fills with the mean colour
};

/// Returns a small image for viewing, (h, w, C) uint8: the whole image, with a longer side of at most `side`.
at::Tensor thumbnail(const ImageSource& images, int64_t index, int64_t side);

}  // namespace cachet::data
