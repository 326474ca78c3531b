#include "cachet/data/vision/pixels/image_geometry.h"

#include <algorithm>

namespace cachet::data {
namespace {

ImagePoint mapped(const AffineMap& map, const ImagePoint& place) {
  return {map.xx * place.x + map.xy * place.y + map.x0, map.yx * place.x + map.yy * place.y + map.y0};
}

ImageBox mapped(const AffineMap& map, const ImageBox& box) {
  const ImagePoint corners[] = {mapped(map, ImagePoint{box.left, box.top}), mapped(map, ImagePoint{box.right, box.top}),
                                mapped(map, ImagePoint{box.left, box.bottom}),
                                mapped(map, ImagePoint{box.right, box.bottom})};
  const auto [left, right] = std::ranges::minmax(corners, {}, &ImagePoint::x);
  const auto [top, bottom] = std::ranges::minmax(corners, {}, &ImagePoint::y);
  return {left.x, top.y, right.x, bottom.y};
}

}  // namespace

void ImageGeometry::crop(const io::ImageRegion& region) {
  const AffineMap shift{1, 0, static_cast<double>(region.left), 0, 1, static_cast<double>(region.top)};
  to_original = to_original.after(shift);
  result = {region.height, region.width};
}

void ImageGeometry::resize(const io::ImageSize& size) {
  const double x = static_cast<double>(result.width) / static_cast<double>(size.width);
  const double y = static_cast<double>(result.height) / static_cast<double>(size.height);
  to_original = to_original.after({x, 0, 0, 0, y, 0});
  result = size;
}

void ImageGeometry::mirror() { to_original = to_original.after({-1, 0, static_cast<double>(result.width), 0, 1, 0}); }

void ImageGeometry::warp(const AffineMap& map) { to_original = to_original.after(map); }

ImagePoint ImageGeometry::in_result(const ImagePoint& place) const { return mapped(to_original.inverse(), place); }
ImagePoint ImageGeometry::in_original(const ImagePoint& place) const { return mapped(to_original, place); }
ImageBox ImageGeometry::in_result(const ImageBox& box) const { return mapped(to_original.inverse(), box); }
ImageBox ImageGeometry::in_original(const ImageBox& box) const { return mapped(to_original, box); }

ImageBox within(const ImageBox& box, const io::ImageSize& size) {
  const auto width = static_cast<double>(size.width), height = static_cast<double>(size.height);
  const ImageBox part{std::max(box.left, 0.0), std::max(box.top, 0.0), std::min(box.right, width),
                      std::min(box.bottom, height)};
  return part.empty() ? ImageBox() : part;
}

}  // namespace cachet::data
