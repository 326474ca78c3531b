#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

/// The cells that the bins of a box read along one axis, with their weights. Bin i reads the cells from first[i] on,
/// with the weights weights[offset[i]] … weights[offset[i + 1] − 1], or no cell if the two offsets are equal. `offset`
/// has bins + 1 numbers. Over the bins that read cells, neither the first nor the last cell ever decreases.
struct RoiAxis {
  int64_t bins;
  const int64_t* first;
  const int64_t* offset;
  const float* weights;
};

/// Layout of a map, channels last: neighbouring cells of a row lie `cell` numbers apart, and a row has `width` cells.
/// The first `channels` channels of each cell are used.
struct RoiMap {
  int64_t width, cell, channels;
};

// Compute the bins of one box: out[i, j, c] = Σ_y Σ_x rows[i, y]·columns[j, x]·map[y, x, c]. Each row of the map is
// read once: its sums over columns are added to every bin that reads the row. The work on a box is serial. T is
// float or BFloat16; sums are float32.

/// out has (rows.bins, columns.bins) cells, which lie `out_cell` numbers apart and have `channels` numbers each. `sums`
/// is working space for rows.bins·columns.bins·channels numbers.
template <class T>
void roi_align(const T* map, RoiMap shape, const RoiAxis& rows, const RoiAxis& columns, T* out, int64_t out_cell,
               float* sums);

/// Adds the gradient of each cell to d_map (laid out as the map), given the gradient of the bins (laid out as `out`).
template <class T>
void roi_align_backward(const T* grad, int64_t grad_cell, const RoiAxis& rows, const RoiAxis& columns, float* d_map,
                        RoiMap shape);

}  // namespace cachet::kernels
