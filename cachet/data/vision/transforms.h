#pragma once

#include <cstdint>
#include <vector>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation_options.h"
#include "cachet/data/vision/image_dataset.h"
#include "cachet/data/vision/normalization.h"
#include "cachet/data/vision/rand_augment.h"

namespace cachet::data {

/// Turns uint8 images into the float32 input of a model. What is drawn for a sample is a function of its SampleRandom.
class ImageTransform {
 public:
  /// `input` is the data set's shape: height and width 0 where each image has its own. Throws std::invalid_argument
  /// when an option cannot apply to it (reflection wider than the image, no size to resize to, colours of two
  /// channels).
  ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation = {},
                 ResizeOptions resize = {});

  /// That of evaluation: the middle of an image, or the whole where images have one size and crop_fraction is 1.
  static ImageTransform for_evaluation(ImageShape input, Normalization normalization, ResizeOptions resize);

  ImageShape input_shape() const { return input_; }
  ImageShape output_shape() const;  // of a batch

  /// What apply() writes: output_shape(), but for padded crops, which are resized as a batch.
  ImageShape sample_shape() const;

  /// Augments and normalises one image to `out`, sample_shape().numel() values. Thread-safe.
  void apply(const ImageDataset& dataset, int64_t index, const SampleRandom& random, float* out) const;

  /// Resizes a batch (B, C, H, W) to output_shape(); returns it as it is when it has that.
  at::Tensor resize(const at::Tensor& batch) const;

 private:
  at::Tensor cropped(const ImageDataset& dataset, int64_t index, const SampleRandom& random,
                     CounterRandom& common) const;
  at::Tensor padded_crop(const at::Tensor& image, CounterRandom& common) const;
  at::Tensor resized_crop(const ImageDataset& dataset, int64_t index, const SampleRandom& random) const;
  at::Tensor middle(const ImageDataset& dataset, int64_t index) const;
  void normalize(const at::Tensor& pixels, float* out) const;

  ImageShape input_;
  AugmentationOptions augmentation_;
  ResizeOptions resize_;
  std::vector<float> scale_, shift_;  // a channel's x · scale + shift
  AffineStyle affine_;                // filled with the mean colour
};

/// An image for people, (h, w, C) uint8: the whole of it, its longer side at most `side`.
at::Tensor thumbnail(const ImageDataset& dataset, int64_t index, int64_t side);

}  // namespace cachet::data
