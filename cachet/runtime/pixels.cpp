#include "cachet/runtime/pixels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace cachet::runtime {
namespace {

template <class Real>
Real bilinear(Real x) {
  return std::max<Real>(0, 1 - std::abs(x));
}

// Keys' cubic with a = −1/2.
template <class Real>
Real bicubic(Real x) {
  constexpr Real a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// A sinc within three periods, faded out by a wider one.
template <class Real>
Real lanczos(Real x) {
  constexpr Real kPeriods = 3;
  const auto sinc = [](Real at) {
    return at == 0 ? Real{1} : std::sin(at * std::numbers::pi_v<Real>) / (at * std::numbers::pi_v<Real>);
  };
  return std::abs(x) < kPeriods ? sinc(x) * sinc(x / kPeriods) : 0;
}

/// How far from its centre a filter reads, in pixels, and its weight at a distance.
template <class Real>
struct FilterShape {
  Real support;
  Real (*weight)(Real distance);
};

template <class Real>
FilterShape<Real> shape_of(PixelFilter filter) {
  switch (filter) {
    case PixelFilter::bilinear:
      return {1, bilinear<Real>};
    case PixelFilter::bicubic:
      return {2, bicubic<Real>};
    case PixelFilter::lanczos:
      return {3, lanczos<Real>};
  }
  throw std::logic_error("resized: an unknown filter");
}

/// What an output position of one dimension reads: `weights` from `first` on.
template <class Real>
struct Reading {
  int64_t first = 0;
  std::vector<Real> weights;
};

template <class Real>
std::vector<Reading<Real>> readings(int64_t from, int64_t to, PixelFilter filter) {
  const Real scale = static_cast<Real>(from) / static_cast<Real>(to), widened = std::max<Real>(scale, 1);
  const FilterShape<Real> shape = shape_of<Real>(filter);
  const Real support = shape.support * widened, half = 0.5;
  std::vector<Reading<Real>> all;
  for (int64_t i = 0; i < to; ++i) {
    const Real centre = scale * (static_cast<Real>(i) + half);
    Reading<Real> reading{std::max<int64_t>(static_cast<int64_t>(centre - support + half), 0), {}};
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(centre + support + half), from);
    Real sum = 0;
    for (int64_t j = reading.first; j < end; ++j) {
      const Real x = (static_cast<Real>(j) - centre + half) / widened;
      reading.weights.push_back(shape.weight(x));
      sum += reading.weights.back();
    }
    for (Real& weight : reading.weights) weight /= sum;
    all.push_back(std::move(reading));
  }
  return all;
}

/// Sums of bytes in whole numbers: weights have as many bits after the point as the largest leaves in 16.
class ByteSums {
 public:
  using Value = uint8_t;
  using Real = double;
  explicit ByteSums(const std::vector<Reading<Real>>& readings) {
    double most = 0;
    for (const Reading<Real>& reading : readings)
      for (const double weight : reading.weights) most = std::max(most, weight);
    const auto fits = [&](int bits) {
      return static_cast<int64_t>(0.5 + most * static_cast<double>(int64_t{1} << bits)) < (int64_t{1} << 15);
    };
    while (bits_ < 22 && fits(bits_ + 1)) ++bits_;
    const auto unit = static_cast<double>(int64_t{1} << bits_);
    for (const Reading<Real>& reading : readings) {
      weights_.emplace_back();
      for (const double weight : reading.weights)
        weights_.back().push_back(static_cast<int64_t>(weight * unit + (weight < 0 ? -0.5 : 0.5)));
    }
  }
  // `step` values lie between those that position i reads.
  uint8_t operator()(size_t i, const uint8_t* values, int64_t step) const {
    int64_t sum = bits_ > 0 ? int64_t{1} << (bits_ - 1) : 0;
    for (size_t j = 0; j < weights_[i].size(); ++j) sum += weights_[i][j] * values[static_cast<int64_t>(j) * step];
    return static_cast<uint8_t>(std::clamp<int64_t>(sum >> bits_, 0, 255));
  }

 private:
  int bits_ = 0;
  std::vector<std::vector<int64_t>> weights_;
};

class FloatSums {
 public:
  using Value = float;
  using Real = float;
  explicit FloatSums(const std::vector<Reading<Real>>& readings) {
    for (const Reading<Real>& reading : readings) weights_.push_back(reading.weights);
  }
  float operator()(size_t i, const float* values, int64_t step) const {
    float sum = 0;
    for (size_t j = 0; j < weights_[i].size(); ++j) sum += weights_[i][j] * values[static_cast<int64_t>(j) * step];
    return sum;
  }

 private:
  std::vector<std::vector<float>> weights_;
};

template <class Value>
Raster<Value> empty(const io::ImageSize& size, int64_t channels) {
  return {size, channels, std::vector<Value>(static_cast<size_t>(size.height * size.width * channels))};
}

template <class Sums, class Value = typename Sums::Value>
Raster<Value> resized_rows(const Raster<Value>& image, int64_t width, PixelFilter filter) {
  const auto all = readings<typename Sums::Real>(image.size.width, width, filter);
  const Sums sums(all);
  auto result = empty<Value>({image.size.height, width}, image.channels);
  Value* out = result.values.data();
  for (int64_t y = 0; y < image.size.height; ++y) {
    const Value* row = image.values.data() + y * image.size.width * image.channels;
    for (size_t i = 0; i < all.size(); ++i)
      for (int64_t c = 0; c < image.channels; ++c)
        *out++ = sums(i, row + all[i].first * image.channels + c, image.channels);
  }
  return result;
}

template <class Sums, class Value = typename Sums::Value>
Raster<Value> resized_columns(const Raster<Value>& image, int64_t height, PixelFilter filter) {
  const auto all = readings<typename Sums::Real>(image.size.height, height, filter);
  const Sums sums(all);
  auto result = empty<Value>({height, image.size.width}, image.channels);
  const int64_t row = image.size.width * image.channels;
  Value* out = result.values.data();
  for (size_t i = 0; i < all.size(); ++i)
    for (int64_t x = 0; x < row; ++x) *out++ = sums(i, image.values.data() + all[i].first * row + x, row);
  return result;
}

template <class Sums, class Value = typename Sums::Value>
Raster<Value> resized_both_ways(const Raster<Value>& image, const io::ImageSize& size, PixelFilter filter) {
  Raster<Value> result = image;
  if (size.width != image.size.width) result = resized_rows<Sums>(result, size.width, filter);
  if (size.height != image.size.height) result = resized_columns<Sums>(result, size.height, filter);
  return result;
}

}  // namespace

Pixels resized(const Pixels& image, const io::ImageSize& size, PixelFilter filter) {
  return resized_both_ways<ByteSums>(image, size, filter);
}

Raster<float> resized(const Raster<float>& image, const io::ImageSize& size, PixelFilter filter) {
  return resized_both_ways<FloatSums>(image, size, filter);
}

}  // namespace cachet::runtime
