#include "cachet/kernels/token_convolution.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cachet/kernels/token_convolution.cpp"
#include <hwy/foreach_target.h>
// After the one above.
#include "cachet/kernels/dispatch.h"
#include "cachet/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cachet::kernels::HWY_NAMESPACE {

/// Lane i of the result is lane i xor j.
template <class V>
HWY_INLINE V ExchangeLanes(Wide d, V v, int64_t j) {
#if HWY_MAX_BYTES >= 32
  if (j & 4) v = hn::Reverse4(d, hn::Reverse8(d, v));
#endif
#if HWY_MAX_BYTES >= 16
  if (j & 2) v = hn::Reverse2(d, hn::Reverse4(d, v));
  if (j & 1) v = hn::Reverse2(d, v);
#endif
  (void)d, (void)j;
  return v;
}

/// How many channels from the first on are seen as whole vectors of whole groups.
HWY_INLINE int64_t VectorChannels(int64_t channels, int64_t group) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Wide()));
  return lanes % group == 0 ? channels / lanes * lanes : 0;
}

/// Channels [first, channels) of a position, one by one.
template <int64_t kGroup, class T>
HWY_INLINE void ConvolveChannels(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                                 const ConvolutionShape& s, int64_t row, int64_t column, int64_t first) {
  const int64_t place = (row * s.width + column) * s.channels;
  for (int64_t c = first; c < s.channels; ++c) {
    float sum = (bias ? bias[c] : 0.0f) + (addend ? to_float(addend[place + c]) : 0.0f);
    for_each_tap(s, row, column, [&](Tap tap) {
      for (int64_t j = 0; j < kGroup; ++j)
        sum += to_float(x[place + tap.offset * s.channels + (c ^ j)]) * packed[packed_index(s, tap.number, j, c)];
    });
    out[place + c] = from_float<T>(sum);
  }
}

template <int64_t kGroup, class T>
HWY_INLINE void ConvolvePlace(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                              const ConvolutionShape& s, int64_t row, int64_t column) {
  const Wide d;
  const int64_t place = (row * s.width + column) * s.channels, whole = VectorChannels(s.channels, kGroup);
  int64_t c = 0;
  for (; c < whole; c += static_cast<int64_t>(hn::Lanes(d))) {
    auto sum = bias ? hn::LoadU(d, bias + c) : hn::Zero(d);
    if (addend) sum = hn::Add(sum, LoadFloat(d, addend + place + c));
    for_each_tap(s, row, column, [&](Tap tap) {
      const auto value = LoadFloat(d, x + place + tap.offset * s.channels + c);
      for (int64_t j = 0; j < kGroup; ++j) {
        const auto weight = hn::LoadU(d, packed + (tap.number * kGroup + j) * s.channels + c);
        sum = hn::MulAdd(ExchangeLanes(d, value, j), weight, sum);
      }
    });
    StoreFloat(sum, d, out + place + c);
  }
  ConvolveChannels<kGroup>(x, packed, bias, addend, out, s, row, column, c);
}

/// The same for four positions in a line, none of them in the first or last column: weights are loaded once for all
/// four, and each input once for the up to three positions that see it.
template <int64_t kGroup, class T>
HWY_INLINE void ConvolveFourPlaces(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                                   const ConvolutionShape& s, int64_t row, int64_t column) {
  const Wide d;
  const int64_t step = s.channels, place = (row * s.width + column) * step, whole = VectorChannels(step, kGroup);
  const int64_t top = row == 0 ? 1 : 0, bottom = row + 1 == s.height ? 2 : 3;
  for (int64_t c = 0; c < whole; c += static_cast<int64_t>(hn::Lanes(d))) {
    const T* in = x + place + c;
    auto sum0 = bias ? hn::LoadU(d, bias + c) : hn::Zero(d);
    auto sum1 = sum0, sum2 = sum0, sum3 = sum0;
    if (addend) {
      const T* more = addend + place + c;
      sum0 = hn::Add(sum0, LoadFloat(d, more));
      sum1 = hn::Add(sum1, LoadFloat(d, more + step));
      sum2 = hn::Add(sum2, LoadFloat(d, more + 2 * step));
      sum3 = hn::Add(sum3, LoadFloat(d, more + 3 * step));
    }
    for (int64_t dy = top; dy < bottom; ++dy) {
      const T* from = in + ((dy - 1) * s.width - 1) * step;
      const float* weights = packed + dy * 3 * kGroup * step + c;
      const auto v0 = LoadFloat(d, from), v1 = LoadFloat(d, from + step), v2 = LoadFloat(d, from + 2 * step);
      const auto v3 = LoadFloat(d, from + 3 * step), v4 = LoadFloat(d, from + 4 * step);
      const auto v5 = LoadFloat(d, from + 5 * step);
      for (int64_t j = 0; j < kGroup; ++j) {
        const auto w0 = hn::LoadU(d, weights + j * step), w1 = hn::LoadU(d, weights + (kGroup + j) * step);
        const auto w2 = hn::LoadU(d, weights + (2 * kGroup + j) * step);
        const auto x1 = ExchangeLanes(d, v1, j), x2 = ExchangeLanes(d, v2, j), x3 = ExchangeLanes(d, v3, j);
        const auto x4 = ExchangeLanes(d, v4, j);
        sum0 = hn::MulAdd(x2, w2, hn::MulAdd(x1, w1, hn::MulAdd(ExchangeLanes(d, v0, j), w0, sum0)));
        sum1 = hn::MulAdd(x3, w2, hn::MulAdd(x2, w1, hn::MulAdd(x1, w0, sum1)));
        sum2 = hn::MulAdd(x4, w2, hn::MulAdd(x3, w1, hn::MulAdd(x2, w0, sum2)));
        sum3 = hn::MulAdd(ExchangeLanes(d, v5, j), w2, hn::MulAdd(x4, w1, hn::MulAdd(x3, w0, sum3)));
      }
    }
    T* to = out + place + c;
    StoreFloat(sum0, d, to);
    StoreFloat(sum1, d, to + step);
    StoreFloat(sum2, d, to + 2 * step);
    StoreFloat(sum3, d, to + 3 * step);
  }
  for (int64_t k = 0; k < 4; ++k) ConvolveChannels<kGroup>(x, packed, bias, addend, out, s, row, column + k, whole);
}

// Not inlined: four of these in one function, and the compiler runs out of patience with each of them.
template <int64_t kGroup, class T>
HWY_NOINLINE void ConvolveRow(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                              const ConvolutionShape& s, int64_t row) {
  for (int64_t column = 0; column < s.width;) {
    const bool four = column >= 1 && column + 4 < s.width;
    if (four)
      ConvolveFourPlaces<kGroup>(x, packed, bias, addend, out, s, row, column);
    else
      ConvolvePlace<kGroup>(x, packed, bias, addend, out, s, row, column);
    column += four ? 4 : 1;
  }
}

template <class T>
void ConvolveTokens(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                    const ConvolutionShape& s, ConvolutionEnd end, int64_t first_row, int64_t last_row) {
  const auto convolve = s.group == 1   ? ConvolveRow<1, T>
                        : s.group == 2 ? ConvolveRow<2, T>
                        : s.group == 4 ? ConvolveRow<4, T>
                                       : ConvolveRow<8, T>;
  for (int64_t row = first_row; row < last_row; ++row) {
    convolve(x, packed, bias, addend, out, s, row);
    // After the row, which is still in the cache: within the loops above its constants would drive out theirs.
    T* made = out + row * s.width * s.channels;
    if (end == ConvolutionEnd::gelu)
      ForEachVector(s.width * s.channels,
                    [&](auto d, int64_t i) { StoreFloat(Gelu(d, LoadFloat(d, made + i)), d, made + i); });
  }
}

template <class T>
void WeightGradient(const T* grad, const T* x, float* d_packed, const ConvolutionShape& s, int64_t first,
                    int64_t last) {
  const Wide d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = first + VectorChannels(last - first, s.group);
  for (int64_t tap = 0; tap < 9; ++tap) {
    const int64_t dy = tap / 3 - 1, dx = tap % 3 - 1;
    const int64_t top = dy < 0 ? 1 : 0, bottom = s.height - (dy > 0 ? 1 : 0);
    const int64_t left = dx < 0 ? 1 : 0, right = s.width - (dx > 0 ? 1 : 0);
    const int64_t offset = (dy * s.width + dx) * s.channels;
    // Two products of a group at a time: both are sums over all positions of what is loaded once.
    for (int64_t j = 0; j < s.group; j += 2) {
      const bool pair = j + 1 < s.group;
      float *even = d_packed + packed_index(s, tap, j, 0), *odd = d_packed + packed_index(s, tap, pair ? j + 1 : j, 0);
      for (int64_t c = first; c < whole; c += lanes) {
        auto sum = hn::LoadU(d, even + c), other = hn::LoadU(d, odd + c);
        for (int64_t row = top; row < bottom; ++row)
          for (int64_t column = left; column < right; ++column) {
            const int64_t place = (row * s.width + column) * s.channels + c;
            const auto g = LoadFloat(d, grad + place);
            const auto value = ExchangeLanes(d, LoadFloat(d, x + place + offset), j);
            sum = hn::MulAdd(g, value, sum);
            if (pair) other = hn::MulAdd(g, ExchangeLanes(d, value, 1), other);
          }
        hn::StoreU(sum, d, even + c);
        if (pair) hn::StoreU(other, d, odd + c);
      }
    }
    for (int64_t c = whole; c < last; ++c)
      for (int64_t j = 0; j < s.group; ++j)
        for (int64_t row = top; row < bottom; ++row)
          for (int64_t column = left; column < right; ++column) {
            const int64_t place = (row * s.width + column) * s.channels;
            d_packed[packed_index(s, tap, j, c)] += to_float(grad[place + c]) * to_float(x[place + offset + (c ^ j)]);
          }
  }
}

CACHET_KERNEL(ConvolveTokens);
CACHET_KERNEL(WeightGradient);

}  // namespace cachet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachet::kernels {

CACHET_EXPORT(ConvolveTokens);
CACHET_EXPORT(WeightGradient);

void pack_convolution(const float* weight, float* packed, const ConvolutionShape& s, bool transposed) {
  for (int64_t tap = 0; tap < 9; ++tap)
    for (int64_t j = 0; j < s.group; ++j)
      for (int64_t c = 0; c < s.channels; ++c) {
        // The gradient's convolution goes from outputs to inputs, and to the other side.
        const int64_t out = transposed ? c ^ j : c, in = transposed ? c % s.group : (c % s.group) ^ j;
        packed[packed_index(s, tap, j, c)] = weight[(out * s.group + in) * 9 + (transposed ? 8 - tap : tap)];
      }
}

void unpack_convolution(const float* packed, float* weight, const ConvolutionShape& s) {
  for (int64_t tap = 0; tap < 9; ++tap)
    for (int64_t j = 0; j < s.group; ++j)
      for (int64_t c = 0; c < s.channels; ++c)
        weight[(c * s.group + ((c % s.group) ^ j)) * 9 + tap] = packed[packed_index(s, tap, j, c)];
}

template <class T>
void convolve_tokens(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                     const ConvolutionShape& shape, ConvolutionEnd end, int64_t first_row, int64_t last_row) {
  CACHET_DISPATCH(ConvolveTokens, T)(x, packed, bias, addend, out, shape, end, first_row, last_row);
}
template <class T>
void convolve_tokens_weight_gradient(const T* grad, const T* x, float* d_packed, const ConvolutionShape& shape,
                                     int64_t first, int64_t last) {
  CACHET_DISPATCH(WeightGradient, T)(grad, x, d_packed, shape, first, last);
}

#define CACHET_FORMS(T)                                                                                      \
  template void convolve_tokens(const T*, const float*, const float*, const T*, T*, const ConvolutionShape&, \
                                ConvolutionEnd, int64_t, int64_t);                                           \
  template void convolve_tokens_weight_gradient(const T*, const T*, float*, const ConvolutionShape&, int64_t, int64_t);
CACHET_INSTANTIATE(CACHET_FORMS)
#undef CACHET_FORMS

}  // namespace cachet::kernels
#endif
