#pragma once

#include <ATen/core/TensorBody.h>

#include <optional>
#include <string>

#include "cachet/models/vision/image_classifier.h"

namespace cachet::tasks {

/// Resizes a table of positions bicubically to another size of image or window: `pos_embed` (1, class tokens + grid, D)
/// to the grid of `image`, or `relative_position_bias_table` ((2w - 1)², H). The old grid is the grid of the image
/// shape `before`. If `before` is unknown, the old grid is a square for a square number of positions; for any other
/// number, the sides of the old grid are proportional to the sides of `image`. Returns an empty value if the tensor
/// `name` is neither `pos_embed` nor `relative_position_bias_table`, or if `table` and `shape` differ in more than the
/// number of positions.
std::optional<at::Tensor> fit_position_table(const std::string& name, const at::Tensor& table, at::IntArrayRef shape,
                                             const models::ImageShape& image,
                                             const std::optional<models::ImageShape>& before = std::nullopt);

}  // namespace cachet::tasks
