#include "cachet/ops/detection/roi_axes.h"

#include <algorithm>
#include <cmath>

namespace cachet::ops {

void RoiAxes::append(double start, double length) {
  const auto bins = static_cast<double>(bins_.bins);
  const double samples = bins_.sampling > 0 ? static_cast<double>(bins_.sampling) : std::ceil(length / bins);
  const bool reads = length >= 0 && samples >= 1 && std::isfinite(start) && std::isfinite(length);
  for (int64_t i = 0; i < bins_.bins; ++i) {
    if (reads) {
      append_bin(start + static_cast<double>(i) * (length / bins), length / bins / samples, samples);
    } else {
      first_.push_back(0);
      offset_.push_back(offset_.back());
    }
  }
}

void RoiAxes::append_bin(double low, double spacing, double samples) {
  const auto cells = static_cast<double>(bins_.cells);
  // Of a box that reaches far beyond the map only the samples near it are looked at.
  double from = 0, to = samples;
  if (spacing > 0) {
    from = std::clamp(std::floor((-1 - low) / spacing) - 1, 0.0, samples);
    to = std::clamp(std::ceil((cells - low) / spacing) + 1, from, samples);
  }
  int64_t first = -1;
  for (double sample = from; sample < to; ++sample) {
    const double position = low + (sample + 0.5) * spacing;
    if (position < -1 || position > cells) continue;
    const double inside = std::max(position, 0.0);
    const int64_t cell = std::min(static_cast<int64_t>(inside), bins_.cells - 1);
    const double further = cell == bins_.cells - 1 ? 0.0 : inside - static_cast<double>(cell);
    if (first < 0) first = cell;
    const auto begin = static_cast<size_t>(offset_.back()), at = begin + static_cast<size_t>(cell - first);
    if (weights_.size() < at + (further > 0 ? 2 : 1)) weights_.resize(at + (further > 0 ? 2 : 1));
    weights_[at] += static_cast<float>((1 - further) / samples);
    if (further > 0) weights_[at + 1] += static_cast<float>(further / samples);
  }
  first_.push_back(std::max<int64_t>(first, 0));
  offset_.push_back(static_cast<int64_t>(weights_.size()));
}

kernels::RoiAxis RoiAxes::operator[](int64_t box) const {
  return {bins_.bins, first_.data() + box * bins_.bins, offset_.data() + box * bins_.bins, weights_.data()};
}

}  // namespace cachet::ops
