#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

/// What the bins of a box read along one axis: bin i the cells from first[i] on, with the weights
/// weights[offset[i]] … weights[offset[i + 1] − 1]; none where these are equal. `offset` has bins + 1 numbers. From bin
/// to bin neither the first cell nor the last goes back, but for bins that read none.
struct RoiAxis {
  int64_t bins;
  const int64_t* first;
  const int64_t* offset;
  const float* weights;
};

/// How the cells of a map lie: channels side by side, `cell` numbers from one cell to the next in a row, `width` cells
/// to a row; `channels` of them are looked at.
struct RoiMap {
  int64_t width, cell, channels;
};

// A box's bins: out[i, j, c] = Σ_y Σ_x rows[i, y]·columns[j, x]·map[y, x, c]. Rows of the map are read once each: their
// sums over columns are added to every bin that reads the row. Serial over one box; T is float or BFloat16, sums are
// float32.

/// out (rows.bins, columns.bins) cells of `channels` numbers, `out_cell` apart; `sums` is space for
/// rows.bins·columns.bins·channels numbers.
template <class T>
void roi_align(const T* map, RoiMap shape, const RoiAxis& rows, const RoiAxis& columns, T* out, int64_t out_cell,
               float* sums);

/// Adds to d_map, which lies as the map does, what the bins' gradient (as `out` above) gives each cell.
template <class T>
void roi_align_backward(const T* grad, int64_t grad_cell, const RoiAxis& rows, const RoiAxis& columns, float* d_map,
                        RoiMap shape);

}  // namespace cachet::kernels
