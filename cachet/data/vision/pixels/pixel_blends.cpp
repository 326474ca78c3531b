// Operations that blend an image with a plainer one: plain + factor · (image − plain), cut off towards zero.
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/io/images/luma.h"

namespace cachet::data {
namespace {

uint8_t blended(uint8_t plain, uint8_t value, float factor) {
  const float mixed = static_cast<float>(plain) + factor * static_cast<float>(static_cast<int>(value) - plain);
  return static_cast<uint8_t>(std::clamp(mixed, 0.0f, 255.0f));
}

// From an image of one value: a table does it.
void blend_with(at::Tensor& image, uint8_t plain, float factor) {
  std::array<uint8_t, 256> table;
  for (size_t value = 0; value < 256; ++value) table[value] = blended(plain, static_cast<uint8_t>(value), factor);
  auto* pixels = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.numel(); ++i) pixels[i] = table[pixels[i]];
}

uint8_t mean_grey(const at::Tensor& image) {
  const auto* pixels = image.const_data_ptr<uint8_t>();
  const int64_t channels = image.size(2), count = image.size(0) * image.size(1);
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i, pixels += channels) {
    sum += channels == 1 ? pixels[0] : io::luma(pixels[0], pixels[1], pixels[2]);
  }
  return static_cast<uint8_t>(static_cast<double>(sum) / static_cast<double>(count) + 0.5);
}

// The mean of a pixel (five times) and its eight neighbours, to the nearest; borders as they are.
at::Tensor smoothed(const at::Tensor& image) {
  at::Tensor out = image.clone();
  const int64_t height = image.size(0), width = image.size(1), channels = image.size(2), row = width * channels;
  const auto* in = image.const_data_ptr<uint8_t>();
  auto* to = out.mutable_data_ptr<uint8_t>();
  for (int64_t y = 1; y + 1 < height; ++y) {
    for (int64_t i = y * row + channels; i < (y + 1) * row - channels; ++i) {
      int sum = 4 * in[i];
      for (const int64_t line : {i - row, i, i + row}) sum += in[line - channels] + in[line] + in[line + channels];
      to[i] = static_cast<uint8_t>((2 * sum + 13) / 26);
    }
  }
  return out;
}

}  // namespace

void adjust_brightness(at::Tensor& image, double factor) { blend_with(image, 0, static_cast<float>(factor)); }

void adjust_contrast(at::Tensor& image, double factor) {
  blend_with(image, mean_grey(image), static_cast<float>(factor));
}

void adjust_saturation(at::Tensor& image, double factor) {
  if (image.size(2) == 1) return;
  auto* pixel = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.size(0) * image.size(1); ++i, pixel += 3) {
    const uint8_t grey = io::luma(pixel[0], pixel[1], pixel[2]);
    for (int c = 0; c < 3; ++c) pixel[c] = blended(grey, pixel[c], static_cast<float>(factor));
  }
}

void adjust_sharpness(at::Tensor& image, double factor) {
  const at::Tensor plain = smoothed(image);
  const auto* from = plain.const_data_ptr<uint8_t>();
  auto* pixels = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.numel(); ++i) pixels[i] = blended(from[i], pixels[i], static_cast<float>(factor));
}

}  // namespace cachet::data
