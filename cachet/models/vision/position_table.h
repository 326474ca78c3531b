#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/layout.h"

namespace cachet::models {

/// A learned table of positions for another grid: its grid part is resized bicubically (antialiased, as timm does), the
/// first class_tokens rows stay. table (1, class_tokens + from.tokens(), D) -> (1, class_tokens + to.tokens(), D).
at::Tensor resize_position_table(const at::Tensor& table, int64_t class_tokens, const nn::Grid& from,
                                 const nn::Grid& to);

}  // namespace cachet::models
