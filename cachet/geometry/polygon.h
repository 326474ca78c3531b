#pragma once

#include <span>
#include <vector>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::geometry {

/// x0, y0, x1, y1, …: a closed polygon, in pixels like boxes.
using Polygon = std::vector<double>;

/// The largest absolute value of a coordinate. Corners may lie outside the image.
inline constexpr double kMaxPolygonCoordinate = 1 << 26;

/// Returns the pixels of a polygon by COCO's rule, bit for bit. Corners are rounded to fifths of a pixel. Along each
/// edge, there is a point for each step of its longer side. An edge counts for a column of pixels if it crosses the
/// column's middle, and a pixel belongs to the polygon if an odd number of edges passes above its middle. Throws
/// std::invalid_argument for no or an odd number of coordinates, for one that is not finite or larger than
/// kMaxPolygonCoordinate, and for edges that cross columns of pixels more than 2^24 times.
RunLengths rasterized(std::span<const double> polygon, const Size& image);

/// Returns the union of the polygons. There must be at least one polygon.
RunLengths rasterized(std::span<const Polygon> polygons, const Size& image);

/// Returns the polygon in an image mirrored left to right, or top to bottom.
Polygon mirrored(const Polygon& polygon, double image_width);
Polygon flipped(const Polygon& polygon, double image_height);

}  // namespace cachet::geometry
