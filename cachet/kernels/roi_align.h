#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

/// The cells, with weights, that the bins of a box read along one axis. Bin i reads the cells from first[i] on, with
/// the weights weights[offset[i]] … weights[offset[i + 1] − 1]. If both offsets of a bin are equal, the bin reads no
/// cells. The array `offset` has bins + 1 numbers. The indices of a bin's first and last cell never decrease from one
/// bin to the next (except in bins without cells).
struct RoiAxis {
  int64_t bins;
  const int64_t* first;
  const int64_t* offset;
  const float* weights;
};

/// The layout of a map, channels last: cells of a row are `cell` numbers apart, and a row has `width` cells.
/// The first `channels` channels of each cell are used.
struct RoiMap {
  int64_t width, cell, channels;
};

// Compute the bins of one box: out[i, j, c] = Σ_y Σ_x rows[i, y]·columns[j, x]·map[y, x, c]. Each row y of the map is
// read once: its sums over x are added to the bins that use this row. One thread computes a box. T is float or
// BFloat16; sums are float32.

/// The array `out` has (rows.bins, columns.bins) cells. The cells are `out_cell` numbers apart, and each cell has
/// `channels` numbers. `sums` is scratch memory for rows.bins·columns.bins·channels numbers.
template <class T>
void roi_align(const T* map, RoiMap shape, const RoiAxis& rows, const RoiAxis& columns, T* out, int64_t out_cell,
               float* sums);

/// Adds the gradient of each cell to d_map (in the layout of the map). `grad`: the gradient of the bins of `out`.
template <class T>
void roi_align_backward(const T* grad, int64_t grad_cell, const RoiAxis& rows, const RoiAxis& columns, float* d_map,
                        RoiMap shape);

}  // namespace cachet::kernels
