#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>

#include <algorithm>

#include "cachet/data/vision/pixel_operations.h"

namespace cachet::data {

at::Tensor resize_pixels(const at::Tensor& image, const io::ImageSize& size, Interpolation interpolation) {
  if (image.size(0) == size.height && image.size(1) == size.width) return image;
  const at::Tensor batch = image.permute({2, 0, 1}).unsqueeze(0);  // (1, C, H, W), channels last
  const std::vector<int64_t> sides{size.height, size.width};
  const at::Tensor resized = interpolation == Interpolation::bilinear
                                 ? at::_upsample_bilinear2d_aa(batch, sides, /*align_corners=*/false)
                                 : at::_upsample_bicubic2d_aa(batch, sides, /*align_corners=*/false);
  return resized[0].permute({1, 2, 0}).contiguous();
}

void mirror_pixels(at::Tensor& image) {
  const int64_t width = image.size(1), channels = image.size(2);
  auto* row = image.mutable_data_ptr<uint8_t>();
  for (int64_t y = 0; y < image.size(0); ++y, row += width * channels) {
    for (int64_t left = 0, right = width - 1; left < right; ++left, --right) {
      std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
    }
  }
}

}  // namespace cachet::data
