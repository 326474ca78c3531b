#include "cachet/models/detection/heads/mask_pasting.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace cachet::models {
namespace {

/// Pixels [from, to) of an axis that a box from `low` to `high` can reach.
struct Reach {
  int64_t from = 0, to = 0;
};

Reach reach_of(double low, double high, int64_t size) {
  if (!(std::isfinite(low) && std::isfinite(high))) return {};
  const auto limit = static_cast<double>(size);
  const auto from = static_cast<int64_t>(std::clamp(std::floor(std::min(low, high)) - 1, 0.0, limit));
  return {from, std::max(from, static_cast<int64_t>(std::clamp(std::ceil(std::max(low, high)) + 1, 0.0, limit)))};
}

/// (pixels, side): how much of each cell's score a pixel reads along one axis.
at::Tensor reading(const Reach& pixels, double low, double high, int64_t side, const at::TensorOptions& options) {
  const at::Tensor centres = at::arange(pixels.from, pixels.to, options) + 0.5;
  // Where a cell's centre has a whole number.
  const at::Tensor place = (centres - low) / (high - low) * static_cast<double>(side) - 0.5;
  const at::Tensor distance = (place.unsqueeze(1) - at::arange(side, options)).abs();
  return at::where(distance < 1, 1 - distance, at::zeros({}, options));  // 0 where a box has no side
}

}  // namespace

PastedMask paste_mask(const at::Tensor& scores, const at::Tensor& box, const ImageSize& size, double threshold) {
  TORCH_CHECK(scores.dim() == 2 && box.dim() == 1 && box.size(0) == 4,
              "paste_mask: scores must be (h, w) and box (4), got ", scores.sizes(), " and ", box.sizes());
  const at::Tensor corners = box.detach().to(at::kCPU, at::kDouble).contiguous();
  const auto* at = corners.const_data_ptr<double>();
  const Reach columns = reach_of(at[0], at[2], size.width), rows = reach_of(at[1], at[3], size.height);
  const at::Tensor by_rows = reading(rows, at[1], at[3], scores.size(0), scores.options());
  const at::Tensor by_columns = reading(columns, at[0], at[2], scores.size(1), scores.options());
  return {by_rows.matmul(scores).matmul(by_columns.t()) >= threshold, rows.from, columns.from};
}

at::Tensor paste_masks(const at::Tensor& scores, const at::Tensor& boxes, const ImageSize& size, double threshold) {
  at::Tensor masks = at::zeros({scores.size(0), size.height, size.width}, scores.options().dtype(at::kBool));
  for (int64_t i = 0; i < scores.size(0); ++i) {
    const PastedMask pasted = paste_mask(scores[i], boxes[i], size, threshold);
    masks[i].narrow(0, pasted.y, pasted.mask.size(0)).narrow(1, pasted.x, pasted.mask.size(1)).copy_(pasted.mask);
  }
  return masks;
}

}  // namespace cachet::models
