#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/layout.h"

namespace cachet::models {

enum class Resampling {
  bicubic,   // antialiased, as in timm's vision transformers
  bilinear,  // as in the published PVT
};

/// Resizes a learned table of positions to another grid. The first class_tokens rows of the table do not change. table
/// (1, class_tokens + from.tokens(), D) -> (1, class_tokens + to.tokens(), D).
at::Tensor resize_position_table(const at::Tensor& table, int64_t class_tokens, const nn::Grid& from,
                                 const nn::Grid& to, Resampling resampling);

}  // namespace cachet::models
