#include "cachet/geometry/polygon.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace cachet::geometry {
namespace {

constexpr int64_t kFifths = 5;  // steps a pixel

// A hostile polygon runs to and fro over all columns; memory for that is not given.
constexpr size_t kMaxCrossings = size_t{1} << 24;

// In fifths of a pixel.
struct Corner {
  int64_t x = 0, y = 0;
};

Corner corner_of(const double* place) {
  for (int i = 0; i < 2; ++i) {
    if (!(std::abs(place[i]) <= kMaxPolygonCoordinate))
      throw std::invalid_argument("a corner of a polygon has the coordinate " + std::to_string(place[i]) +
                                  ", but at most " + std::to_string(static_cast<int64_t>(kMaxPolygonCoordinate)) +
                                  " is possible");
  }
  // Towards zero, also of negative numbers: part of the rule.
  return {static_cast<int64_t>(kFifths * place[0] + .5), static_cast<int64_t>(kFifths * place[1] + .5)};
}

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// Finds where the edges of a polygon pass the middles of columns.
class Crossings {
 public:
  explicit Crossings(const Size& image) : image_(image) {}

  void add_edge(Corner from, Corner to) {
    const int64_t dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
    if (dx == 0) return;
    const bool flat = dx >= dy;
    // An edge and its reverse have the same points.
    if (flat ? from.x > to.x : from.y > to.y) std::swap(from, to);
    // Column c is passed on the way from 5c + 2 to 5c + 3.
    const auto [least, most] = std::minmax(from.x, to.x);
    const int64_t first = std::max<int64_t>(0, -floor_divide(2 - least, kFifths));
    const int64_t last = std::min(image_.width - 1, floor_divide(most - 3, kFifths));
    for (int64_t column = first; column <= last; ++column) {
      const int64_t x = kFifths * column + 2;
      add(column, flat ? flat_height(from, to, x) : steep_height(from, to, x));
    }
  }

  /// The pixels at which the polygon is entered and left, in order: from there to the next one.
  std::vector<uint64_t> sorted() && {
    std::sort(positions_.begin(), positions_.end());
    return std::move(positions_);
  }

 private:
  // The upper of an edge's points at x and x + 1.
  static int64_t flat_height(const Corner& from, const Corner& to, int64_t x) {
    const double slope = static_cast<double>(to.y - from.y) / static_cast<double>(to.x - from.x);
    const auto y_at = [&](int64_t step) {
      return static_cast<int64_t>(static_cast<double>(from.y) + slope * static_cast<double>(step) + .5);
    };
    return std::min(y_at(x - from.x), y_at(x + 1 - from.x));
  }

  // The upper of the two neighbouring points between which the edge passes from x to x + 1, or back.
  static int64_t steep_height(const Corner& from, const Corner& to, int64_t x) {
    const double slope = static_cast<double>(to.x - from.x) / static_cast<double>(to.y - from.y);
    const bool rightwards = slope > 0;
    const auto has_passed = [&](int64_t step) {
      const auto at = static_cast<int64_t>(static_cast<double>(from.x) + slope * static_cast<double>(step) + .5);
      return rightwards ? at > x : at <= x;
    };
    // The guess is off by one at most; both loops end, since the edge's ends lie on both sides.
    auto step = static_cast<int64_t>((static_cast<double>(x - from.x) + .5) / slope);
    step = std::clamp<int64_t>(step, 1, to.y - from.y);
    while (step > 1 && has_passed(step - 1)) --step;
    while (step < to.y - from.y && !has_passed(step)) ++step;
    return from.y + step - 1;
  }

  void add(int64_t column, int64_t height_in_fifths) {
    const double y = (static_cast<double>(height_in_fifths) + .5) / kFifths - .5;
    const double row = std::ceil(std::clamp(y, 0.0, static_cast<double>(image_.height)));
    if (positions_.size() == kMaxCrossings)
      throw std::invalid_argument("the edges of a polygon must not pass columns of pixels more than " +
                                  std::to_string(kMaxCrossings) + " times");
    positions_.push_back(static_cast<uint64_t>(column * image_.height + static_cast<int64_t>(row)));
  }

  Size image_;
  std::vector<uint64_t> positions_;
};

}  // namespace

RunLengths rasterized(std::span<const double> polygon, const Size& image) {
  if (polygon.empty() || polygon.size() % 2 != 0)
    throw std::invalid_argument("a polygon has " + std::to_string(polygon.size()) +
                                " coordinates, but it must have an x and a y for each corner");
  RunBuilder builder(image);
  Crossings crossings(image);
  Corner last = corner_of(&polygon[polygon.size() - 2]);
  for (size_t i = 0; i < polygon.size(); i += 2) {
    const Corner corner = corner_of(&polygon[i]);
    crossings.add_edge(last, corner);
    last = corner;
  }
  // Each column is passed an even number of times.
  const std::vector<uint64_t> positions = std::move(crossings).sorted();
  for (size_t i = 0; i + 1 < positions.size(); i += 2) builder.add(positions[i], positions[i + 1]);
  return builder.finish();
}

RunLengths rasterized(std::span<const Polygon> polygons, const Size& image) {
  std::vector<RunLengths> masks;
  masks.reserve(polygons.size());
  for (const Polygon& polygon : polygons) masks.push_back(rasterized(std::span<const double>(polygon), image));
  return united(masks);
}

Polygon mirrored(const Polygon& polygon, double image_width) {
  Polygon result = polygon;
  for (size_t i = 0; i < result.size(); i += 2) result[i] = image_width - result[i];
  return result;
}

Polygon flipped(const Polygon& polygon, double image_height) {
  Polygon result = polygon;
  for (size_t i = 1; i < result.size(); i += 2) result[i] = image_height - result[i];
  return result;
}

}  // namespace cachet::geometry
