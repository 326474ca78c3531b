#include "cachet/kernels/roi_align.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/roi_align.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

HWY_INLINE int64_t ReadBy(const RoiAxis& axis, int64_t bin) { return axis.offset[bin + 1] - axis.offset[bin]; }

/// The rows that any bin reads: [from, to).
HWY_INLINE void Span(const RoiAxis& axis, int64_t& from, int64_t& to) {
  from = to = 0;
  for (int64_t i = 0; i < axis.bins; ++i) {
    if (ReadBy(axis, i) == 0) continue;
    from = to == 0 ? axis.first[i] : std::min(from, axis.first[i]);
    to = std::max(to, axis.first[i] + ReadBy(axis, i));
  }
}

/// The bins among which those are that read a row.
struct Readers {
  int64_t from, to;
};

HWY_INLINE Readers ReadersOf(const RoiAxis& rows, int64_t y) {
  Readers readers{0, 0};
  while (readers.from < rows.bins && rows.first[readers.from] + ReadBy(rows, readers.from) <= y) ++readers.from;
  readers.to = readers.from;
  while (readers.to < rows.bins && rows.first[readers.to] <= y) ++readers.to;
  return readers;
}

/// Calls use(bin, its weight for the row) for each bin that reads it.
template <class Use>
HWY_INLINE void ForEachReader(const RoiAxis& rows, Readers readers, int64_t y, const Use& use) {
  for (int64_t i = readers.from; i < readers.to; ++i) {
    const int64_t at = y - rows.first[i];
    if (at < ReadBy(rows, i)) use(i, rows.weights[rows.offset[i] + at]);
  }
}

template <class T>
void RoiAlign(const T* map, RoiMap s, const RoiAxis& rows, const RoiAxis& columns, T* out, int64_t out_cell,
              float* sums) {
  const int64_t bins = rows.bins * columns.bins;
  std::memset(sums, 0, static_cast<size_t>(bins * s.channels) * sizeof(float));
  int64_t from, to;
  Span(rows, from, to);
  for (int64_t y = from; y < to; ++y) {
    const Readers readers = ReadersOf(rows, y);
    for (int64_t j = 0; j < columns.bins; ++j) {
      const int64_t count = ReadBy(columns, j);
      if (count == 0) continue;
      const float* weights = columns.weights + columns.offset[j];
      const T* cells = map + (y * s.width + columns.first[j]) * s.cell;
      ForEachVector(s.channels, [&](auto d, int64_t c) {
        auto sum = hn::Mul(hn::Set(d, weights[0]), LoadFloat(d, cells + c));
        for (int64_t x = 1; x < count; ++x)
          sum = hn::MulAdd(hn::Set(d, weights[x]), LoadFloat(d, cells + x * s.cell + c), sum);
        ForEachReader(rows, readers, y, [&](int64_t i, float weight) {
          float* bin = sums + (i * columns.bins + j) * s.channels + c;
          hn::StoreU(hn::MulAdd(hn::Set(d, weight), sum, hn::LoadU(d, bin)), d, bin);
        });
      });
    }
  }
  for (int64_t bin = 0; bin < bins; ++bin)
    ForEachVector(s.channels, [&](auto d, int64_t c) {
      StoreFloat(hn::LoadU(d, sums + bin * s.channels + c), d, out + bin * out_cell + c);
    });
}

template <class T>
void RoiAlignBackward(const T* grad, int64_t grad_cell, const RoiAxis& rows, const RoiAxis& columns, float* d_map,
                      RoiMap s) {
  int64_t from, to;
  Span(rows, from, to);
  for (int64_t y = from; y < to; ++y) {
    const Readers readers = ReadersOf(rows, y);
    for (int64_t j = 0; j < columns.bins; ++j) {
      const int64_t count = ReadBy(columns, j);
      if (count == 0) continue;
      const float* weights = columns.weights + columns.offset[j];
      float* cells = d_map + (y * s.width + columns.first[j]) * s.cell;
      ForEachVector(s.channels, [&](auto d, int64_t c) {
        auto sum = hn::Zero(d);
        ForEachReader(rows, readers, y, [&](int64_t i, float weight) {
          sum = hn::MulAdd(hn::Set(d, weight), LoadFloat(d, grad + (i * columns.bins + j) * grad_cell + c), sum);
        });
        for (int64_t x = 0; x < count; ++x) {
          float* cell = cells + x * s.cell + c;
          hn::StoreU(hn::MulAdd(hn::Set(d, weights[x]), sum, hn::LoadU(d, cell)), d, cell);
        }
      });
    }
  }
}

CACHET_KERNEL(RoiAlign);
CACHET_KERNEL(RoiAlignBackward);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(RoiAlign);
CACHET_EXPORT(RoiAlignBackward);

template <class T>
void roi_align(const T* map, RoiMap shape, const RoiAxis& rows, const RoiAxis& columns, T* out, int64_t out_cell,
               float* sums) {
  CACHET_DISPATCH(RoiAlign, T)(map, shape, rows, columns, out, out_cell, sums);
}
template <class T>
void roi_align_backward(const T* grad, int64_t grad_cell, const RoiAxis& rows, const RoiAxis& columns, float* d_map,
                        RoiMap shape) {
  CACHET_DISPATCH(RoiAlignBackward, T)(grad, grad_cell, rows, columns, d_map, shape);
}

#define CACHET_FORMS(T)                                                                           \
  template void roi_align(const T*, RoiMap, const RoiAxis&, const RoiAxis&, T*, int64_t, float*); \
  template void roi_align_backward(const T*, int64_t, const RoiAxis&, const RoiAxis&, float*, RoiMap);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
