#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/layout.h"

namespace cachet::nn {

// A learned bias for each offset between two tokens of a window (Swin, arXiv 2103.14030, Eq. 4). The table's rows are
// the (2h − 1)·(2w − 1) offsets in row-major order, from the most negative offset; its columns are the heads.

/// Returns the number of offsets between two tokens of a window.
int64_t relative_offsets(const Grid& window);

/// Returns the row of the bias table for each pair (query, key) of tokens of a window, (h·w · h·w) int64.
at::Tensor relative_index(const Grid& window, const at::Device& device);

/// Returns the bias (1, H, h·w, h·w) of all pairs of tokens of a window. table (offsets, H); index: relative_index().
at::Tensor relative_position_bias(const at::Tensor& table, const at::Tensor& index, const Grid& window);

/// Resizes a bias table for another window size, by bicubic interpolation over the offsets.
at::Tensor resize_relative_table(const at::Tensor& table, const Grid& from, const Grid& to);

}  // namespace cachet::nn
