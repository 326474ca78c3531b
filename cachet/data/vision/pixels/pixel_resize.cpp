#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::data {
namespace {

// ATen has this operator since LibTorch 2.13, so that it is looked up by its name.
at::Tensor resize_by_lanczos(const at::Tensor& batch, at::IntArrayRef size) {
  const auto found = c10::Dispatcher::singleton().findSchema({"aten::_upsample_lanczos2d_aa", ""});
  if (!found) throw std::runtime_error("interpolation = \"lanczos\" needs LibTorch 2.13 or newer; choose \"bicubic\"");
  using Operator =
      at::Tensor(const at::Tensor&, c10::SymIntArrayRef, bool, std::optional<double>, std::optional<double>);
  return found->typed<Operator>().call(batch, c10::fromIntArrayRefSlow(size), /*align_corners=*/false, std::nullopt,
                                       std::nullopt);
}

}  // namespace

at::Tensor resize_batch(const at::Tensor& batch, const io::ImageSize& size, Interpolation interpolation) {
  const std::vector<int64_t> sides{size.height, size.width};
  switch (interpolation) {
    case Interpolation::bilinear:
      return at::_upsample_bilinear2d_aa(batch, sides, /*align_corners=*/false);
    case Interpolation::bicubic:
      return at::_upsample_bicubic2d_aa(batch, sides, /*align_corners=*/false);
    case Interpolation::lanczos:
      return resize_by_lanczos(batch, sides);
  }
  throw std::logic_error("resize_batch: an unknown interpolation");
}

at::Tensor resize_pixels(const at::Tensor& image, const io::ImageSize& size, Interpolation interpolation) {
  if (image.size(0) == size.height && image.size(1) == size.width) return image;
  const at::Tensor batch = image.permute({2, 0, 1}).unsqueeze(0);  // (1, C, H, W), channels last
  return resize_batch(batch, size, interpolation)[0].permute({1, 2, 0}).contiguous();
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
