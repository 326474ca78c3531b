#pragma once

#include <span>
#include <vector>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::geometry {

/// x0, y0, x1, y1, …: closed, in pixels as boxes are.
using Polygon = std::vector<double>;

/// Corners may lie so far outside the image.
inline constexpr double kMaxPolygonCoordinate = 1 << 26;

/// The pixels of a polygon by COCO's rule, bit for bit: corners are rounded to fifths of a pixel; along each edge, a
/// point for each step of its longer side; an edge counts for a column of pixels where it passes the column's middle,
/// and a pixel belongs to the polygon if an odd number of edges passes above its middle.
/// Throws std::invalid_argument for no or an odd number of coordinates, and for one that is not finite or larger than
/// kMaxPolygonCoordinate, and for edges that pass columns of pixels more than 2^24 times.
RunLengths rasterized(std::span<const double> polygon, const Size& image);

/// What lies in any of them, at least one.
RunLengths rasterized(std::span<const Polygon> polygons, const Size& image);

/// In an image mirrored left to right, or top to bottom.
Polygon mirrored(const Polygon& polygon, double image_width);
Polygon flipped(const Polygon& polygon, double image_height);

}  // namespace cachet::geometry
