#include "cachet/tasks/image_classification/fit_image.h"

#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/tensor.h>

#include <stdexcept>
#include <string>

namespace cachet::tasks {

at::Tensor fit_image(const at::Tensor& image, const models::ImageShape& shape) {
  at::Tensor pixels = image.permute({2, 0, 1}).unsqueeze(0).to(at::kFloat) / 255;
  if (shape.channels == 1 && pixels.size(1) == 3) {  // luma of BT.601, as image programs convert to grey
    const at::Tensor weights = at::tensor({0.299, 0.587, 0.114}, at::kFloat).reshape({1, 3, 1, 1});
    pixels = (pixels * weights).sum(1, /*keepdim=*/true);
  } else if (pixels.size(1) == 1) {
    pixels = pixels.expand({1, shape.channels, pixels.size(2), pixels.size(3)});
  }
  if (pixels.size(1) != shape.channels)
    throw std::invalid_argument("the model takes images of " + std::to_string(shape.channels) + " channels");
  if (pixels.size(2) == shape.height && pixels.size(3) == shape.width) return pixels.contiguous();
  return at::_upsample_bicubic2d_aa(pixels.contiguous(), {shape.height, shape.width}, /*align_corners=*/false)
      .clamp(0, 1);
}

}  // namespace cachet::tasks
