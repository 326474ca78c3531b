#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/io/images/image_request.h"

/// Operations on contiguous uint8 images (H, W, C) with one or three channels. Rounding is the same as in Pillow, which
/// the published recipes used. Functions with a reference parameter change the image in place.
namespace cachet::data {

/// Resizes a batch (N, C, H, W), uint8 or float, with antialiasing (uint8 uses weights of 16 bits). Throws
/// std::runtime_error for lanczos if this LibTorch lacks it.
at::Tensor resize_batch(const at::Tensor& batch, const io::ImageSize& size, Interpolation interpolation);
/// Resizes one image by the method of resize_batch().
at::Tensor resize_pixels(const at::Tensor& image, const io::ImageSize& size, Interpolation interpolation);
void mirror_pixels(at::Tensor& image);

// These functions blend the image with a plainer image, such as a black image. A factor below 1 makes the image more
// like the plainer image; a factor above 1 makes it less like the plainer image. The factor 1 changes nothing.
void adjust_brightness(at::Tensor& image, double factor);  // plainer image: black
void adjust_contrast(at::Tensor& image, double factor);    // plainer image: the mean grey
void adjust_saturation(at::Tensor& image, double factor);  // plainer image: the image in grey
void adjust_sharpness(at::Tensor& image, double factor);   // plainer image: smoothed by 3 × 3, without borders

/// Rotates the hue by a fraction of a circle in [−0.5, 0.5], through 8-bit HSV. Grey images have no hue.
void adjust_hue(at::Tensor& image, double turn_fraction);

// The following functions treat each channel separately.
void autocontrast(at::Tensor& image);  // stretches the darkest and lightest value to 0 and 255
void equalize(at::Tensor& image);      // makes all values about equally frequent
void invert(at::Tensor& image);
void posterize(at::Tensor& image, int bits);                      // retains the highest `bits` of 8 bits, 0 … 8
void solarize(at::Tensor& image, int threshold);                  // inverts values at or above the threshold, 0 … 256
void solarize_add(at::Tensor& image, int amount, int threshold);  // brightens values below the threshold

}  // namespace cachet::data
