#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/data/random.h"
#include "cachet/data/vision/image_dataset.h"
#include "cachet/data/vision/normalization.h"

namespace cachet::data {

enum class CropFill { zero, reflect };
enum class Interpolation { bilinear, bicubic };

/// What is done to a training image, in this order. The defaults do nothing.
struct AugmentationOptions {
  double flip = 0;           // probability of mirroring left and right
  int64_t crop_padding = 0;  // pixels added on each side before a crop of the original size at a random place
  CropFill crop_fill = CropFill::zero;  // of the padding: black (pixel value 0) or mirrored at the border
  double erasing = 0;                   // probability of setting a rectangle to the mean colour (Zhong et al. 2017)
  double erasing_least_area = 0.02, erasing_most_area = 1.0 / 3;  // shares of the image
};

/// Reads flip, crop_padding, crop_fill, erasing, erasing_least_area and erasing_most_area.
AugmentationOptions read_augmentation_options(const config::View& view);

/// The size a model wants. Batches are resized by ATen with antialiasing, after augmentation.
struct ResizeOptions {
  int64_t image_size = 0;  // both sides; 0 keeps the size of the data
  Interpolation interpolation = Interpolation::bicubic;
};

/// Reads image_size and interpolation.
ResizeOptions read_resize_options(const config::View& view);

/// Turns uint8 images into the float32 input of a model.
class ImageTransform {
 public:
  /// Throws std::invalid_argument when an option cannot apply to this shape (reflection wider than the image).
  ImageTransform(ImageShape input, Normalization normalization, AugmentationOptions augmentation = {},
                 ResizeOptions resize = {});

  ImageShape input_shape() const { return input_; }
  ImageShape output_shape() const;

  /// Augments and normalises one image (C, H, W) to `out`, of the same shape. Thread-safe.
  void apply(const uint8_t* image, CounterRandom random, float* out) const;

  /// Resizes a batch (B, C, H, W) to output_shape(); returns it as it is when that is the input shape.
  at::Tensor resize(const at::Tensor& batch) const;

 private:
  ImageShape input_;
  AugmentationOptions augmentation_;
  ResizeOptions resize_;
  std::vector<float> scale_, shift_;  // a channel's x · scale + shift
};

}  // namespace cachet::data
