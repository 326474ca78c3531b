#include "cachet/data/vision/pixels/affine_map.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cachet::data {
namespace {

struct LinearTaps {
  static constexpr int kCount = 2;
  static constexpr int kBefore = 0;  // of the pixel left of the position
  static float mix(const float* v, float d) { return v[0] + d * (v[1] - v[0]); }
};

struct CubicTaps {
  static constexpr int kCount = 4;
  static constexpr int kBefore = 1;
  // In this form equal values give exactly that value.
  static float mix(const float* v, float d) {
    const float slope = v[2] - v[0], bend = 2 * (v[0] - v[1]) + v[2] - v[3], rest = v[1] - v[0] + v[3] - v[2];
    return v[1] + d * (slope + d * (bend + d * rest));
  }
};

// The rows or columns that a position takes, at the border the last one again; and how far after the first it lies.
template <class Taps>
float find_taps(double place, int64_t length, int64_t stride, int64_t* offsets) {
  const double centred = place - 0.5;
  const double whole = std::floor(centred);
  for (int i = 0; i < Taps::kCount; ++i) {
    const auto tap = static_cast<int64_t>(whole) - Taps::kBefore + i;
    offsets[i] = std::clamp<int64_t>(tap, 0, length - 1) * stride;
  }
  return static_cast<float>(centred - whole);
}

template <class Taps>
void map_pixels(const at::Tensor& image, const AffineMap& map, const FillColour& fill, at::Tensor& result) {
  const int64_t height = image.size(0), width = image.size(1), channels = image.size(2);
  const auto* in = image.const_data_ptr<uint8_t>();
  auto* out = result.mutable_data_ptr<uint8_t>();
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column, out += channels) {
      const double x =
          map.xx * (static_cast<double>(column) + 0.5) + map.xy * (static_cast<double>(row) + 0.5) + map.x0;
      const double y =
          map.yx * (static_cast<double>(column) + 0.5) + map.yy * (static_cast<double>(row) + 0.5) + map.y0;
      if (!(x >= 0 && y >= 0 && x < static_cast<double>(width) && y < static_cast<double>(height))) {
        std::copy_n(fill.data(), channels, out);
        continue;
      }
      int64_t columns[Taps::kCount], rows[Taps::kCount];
      const float right = find_taps<Taps>(x, width, channels, columns);
      const float down = find_taps<Taps>(y, height, width * channels, rows);
      for (int64_t c = 0; c < channels; ++c) {
        float lines[Taps::kCount];
        for (int i = 0; i < Taps::kCount; ++i) {
          float values[Taps::kCount];
          for (int j = 0; j < Taps::kCount; ++j) values[j] = in[rows[i] + columns[j] + c];
          lines[i] = Taps::mix(values, right);
        }
        out[c] = static_cast<uint8_t>(std::clamp(Taps::mix(lines, down), 0.0f, 255.0f));
      }
    }
  }
}

}  // namespace

AffineMap AffineMap::rotation(double degrees, int64_t height, int64_t width) {
  const double angle = -degrees * std::numbers::pi / 180;
  const double x = static_cast<double>(width) / 2, y = static_cast<double>(height) / 2;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  return {cosine, sine, x - cosine * x - sine * y, -sine, cosine, y + sine * x - cosine * y};
}

AffineMap AffineMap::after(const AffineMap& first) const {
  return {xx * first.xx + xy * first.yx, xx * first.xy + xy * first.yy, xx * first.x0 + xy * first.y0 + x0,
          yx * first.xx + yy * first.yx, yx * first.xy + yy * first.yy, yx * first.x0 + yy * first.y0 + y0};
}

AffineMap AffineMap::inverse() const {
  const double area = xx * yy - xy * yx;
  return {yy / area, -xy / area, (xy * y0 - yy * x0) / area, -yx / area, xx / area, (yx * x0 - xx * y0) / area};
}

at::Tensor apply_affine(const at::Tensor& image, const AffineMap& map, Interpolation interpolation,
                        const FillColour& fill) {
  at::Tensor result = at::empty_like(image);
  if (interpolation == Interpolation::bilinear) {
    map_pixels<LinearTaps>(image, map, fill, result);
  } else {
    map_pixels<CubicTaps>(image, map, fill, result);
  }
  return result;
}

}  // namespace cachet::data
