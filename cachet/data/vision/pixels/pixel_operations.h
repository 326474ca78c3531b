#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/io/images/image_request.h"

/// Operations on images of bytes, (H, W, C) uint8, contiguous, one or three channels, with the roundings of Pillow,
/// with which the published recipes were trained. Those that take a reference change the image in place.
namespace cachet::data {

/// Resizes a batch (N, C, H, W), uint8 or float, with antialiasing (for uint8 with weights of 16 bits). Throws
/// std::runtime_error for lanczos if this LibTorch does not have it.
at::Tensor resize_batch(const at::Tensor& batch, const io::ImageSize& size, Interpolation interpolation);
/// The same for one image.
at::Tensor resize_pixels(const at::Tensor& image, const io::ImageSize& size, Interpolation interpolation);
void mirror_pixels(at::Tensor& image);

// Towards (factor < 1) or away from (factor > 1) a plainer image; 1 changes nothing.
void adjust_brightness(at::Tensor& image, double factor);  // from black
void adjust_contrast(at::Tensor& image, double factor);    // from the mean grey
void adjust_saturation(at::Tensor& image, double factor);  // from the image in grey
void adjust_sharpness(at::Tensor& image, double factor);   // from the image smoothed by 3 × 3, without borders

/// Turns the hue by a fraction of a circle, in [−0.5, 0.5], through HSV of 8 bits. Grey images have none.
void adjust_hue(at::Tensor& image, double turn_fraction);

// These treat each channel by itself.
void autocontrast(at::Tensor& image);  // stretched from its darkest and lightest value to 0 and 255
void equalize(at::Tensor& image);      // so that all values are about equally frequent
void invert(at::Tensor& image);
void posterize(at::Tensor& image, int bits);                      // keeps the highest bits of 8, 0 … 8
void solarize(at::Tensor& image, int threshold);                  // inverts what is not below it, 0 … 256
void solarize_add(at::Tensor& image, int amount, int threshold);  // brightens what is below it

}  // namespace cachet::data
