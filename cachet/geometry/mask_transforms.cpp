#include "cachet/geometry/mask_transforms.h"

#include <algorithm>
#include <vector>

namespace cachet::geometry {
namespace {

struct Stretch {
  int64_t top = 0, bottom = 0;
};

// The stretches inside the object, column by column.
class Columns {
 public:
  explicit Columns(const RunLengths& mask) : first_(static_cast<size_t>(mask.size().width) + 1, 0) {
    const int64_t height = mask.size().height;
    int64_t position = 0;
    size_t column = 0;  // whose stretches are being filled in
    const auto& counts = mask.counts();
    for (size_t i = 0; i < counts.size(); ++i) {
      int64_t left = counts[i];
      while (i % 2 == 1 && left > 0) {
        const auto x = static_cast<size_t>(position / height);
        while (column < x) first_[++column] = stretches_.size();
        const int64_t top = position % height;
        const int64_t length = std::min(left, height - top);
        stretches_.push_back({top, top + length});
        position += length;
        left -= length;
      }
      position += left;
    }
    while (column + 1 < first_.size()) first_[++column] = stretches_.size();
  }

  std::span<const Stretch> operator[](int64_t x) const {
    const auto i = static_cast<size_t>(x);
    return std::span(stretches_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

 private:
  std::vector<size_t> first_;
  std::vector<Stretch> stretches_;
};

// Which position of the old side each position of the new one shows.
std::vector<int64_t> nearest_places(int64_t old_side, int64_t new_side) {
  const double step = 1 / (static_cast<double>(new_side) / static_cast<double>(old_side));
  std::vector<int64_t> sources(static_cast<size_t>(new_side));
  for (size_t i = 0; i < sources.size(); ++i)
    sources[i] = std::min(static_cast<int64_t>(static_cast<double>(i) * step), old_side - 1);
  return sources;
}

}  // namespace

RunLengths mirrored(const RunLengths& mask) {
  const Columns columns(mask);
  RunBuilder builder(mask.size());
  for (int64_t x = 0; x < mask.size().width; ++x) {
    for (const Stretch& stretch : columns[mask.size().width - 1 - x]) builder.add(x, stretch.top, stretch.bottom);
  }
  return builder.finish();
}

RunLengths flipped(const RunLengths& mask) {
  const Columns columns(mask);
  const int64_t height = mask.size().height;
  RunBuilder builder(mask.size());
  for (int64_t x = 0; x < mask.size().width; ++x) {
    const auto stretches = columns[x];
    for (size_t i = stretches.size(); i-- > 0;) builder.add(x, height - stretches[i].bottom, height - stretches[i].top);
  }
  return builder.finish();
}

RunLengths windowed(const RunLengths& mask, int64_t top, int64_t left, const Size& size) {
  const Columns columns(mask);
  RunBuilder builder(size);
  const int64_t first = std::max<int64_t>(0, -left), end = std::min(size.width, mask.size().width - left);
  for (int64_t x = first; x < end; ++x) {
    for (const Stretch& stretch : columns[x + left])
      builder.add(x, std::max<int64_t>(0, stretch.top - top), std::min(size.height, stretch.bottom - top));
  }
  return builder.finish();
}

RunLengths resized(const RunLengths& mask, const Size& size) {
  const Columns columns(mask);
  RunBuilder builder(size);
  const std::vector<int64_t> rows = nearest_places(mask.size().height, size.height);
  const std::vector<int64_t> shown = nearest_places(mask.size().width, size.width);
  // The first new row that shows an old row, or one below it.
  const auto first_row = [&](int64_t row) { return std::lower_bound(rows.begin(), rows.end(), row) - rows.begin(); };
  for (int64_t x = 0; x < size.width; ++x) {
    for (const Stretch& stretch : columns[shown[static_cast<size_t>(x)]])
      builder.add(x, first_row(stretch.top), first_row(stretch.bottom));
  }
  return builder.finish();
}

}  // namespace cachet::geometry
