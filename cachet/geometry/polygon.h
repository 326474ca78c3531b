#pragma once

#include <span>
#include <vector>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::geometry {

/// The corners of a closed polygon: x0, y0, x1, y1, …, in the pixel coordinates of boxes.
using Polygon = std::vector<double>;

/// The largest allowed absolute value of a coordinate. Corners may lie outside the image.
inline constexpr double kMaxPolygonCoordinate = 1 << 26;

/// Returns the mask of a polygon by COCO's rule, bit for bit. The corners of the polygon are rounded to fifths of a
/// pixel. Each edge is a list of points, one for each fifth of a pixel along its longer axis. An edge crosses a column
/// of pixels if it passes the middle of the column. A pixel belongs to the polygon if an odd number of edges passes
/// above its middle. Throws std::invalid_argument if the number of coordinates is 0 or odd, if a coordinate is not
/// finite or exceeds kMaxPolygonCoordinate, or if edges cross columns of pixels more than 2^24 times.
RunLengths rasterized(std::span<const double> polygon, const Size& image);

/// Returns the union of one or more polygons as a mask.
RunLengths rasterized(std::span<const Polygon> polygons, const Size& image);

/// Returns the position of a polygon after its image was mirrored left to right, or flipped top to bottom.
Polygon mirrored(const Polygon& polygon, double image_width);
Polygon flipped(const Polygon& polygon, double image_height);

}  // namespace cachet::geometry
